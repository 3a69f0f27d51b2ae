import { useMemo, useState } from 'react';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import { SCORE_BANDS } from '../../../../src/vocabulary/score-bands.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import type { Threshold } from '../../parts/chart/chart-data.ts';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { type RangeSearch, searchOf } from '../../parts/chart/chart-range.ts';

type History = Readonly<ConnectionDetail['history']>;

const BANDS: readonly Threshold[] = [
  { label: 'healthy', value: SCORE_BANDS.healthy, level: 'limit' },
  { label: 'warning', value: SCORE_BANDS.warning, level: 'warning' },
];

const BOUNDS = [0, 100] as const;

/** Scores older than a week are daily; after two days without one the line breaks. */
const USUAL_S = 0.8 * 86_400;

/** The score over 90 days, or since the first check. */
export function ScoreHistory({ history }: { history: History }) {
  const [zoom, setZoom] = useState<RangeSearch>({});
  const at = useMemo(() => history.map((one) => Date.parse(one.at) / 1_000), [history]);
  const series = useMemo(
    () => [
      { id: 0, label: 'Score', points: { at, last: history.map(({ score }) => score), usual: USUAL_S } },
    ],
    [history, at],
  );
  const changes = useMemo(() => maintenance(history), [history]);
  const [first, last] = [at[0], at.at(-1)];
  if (first === undefined || last === undefined) return <p className="quiet">No score yet.</p>;
  const whole = searchOf({ from: Math.min(first, last - 3_600), to: last });
  return (
    <ChartGroup onSearch={setZoom} search={zoom.from ? zoom : whole}>
      <div className="score-history">
        <h2 className="hidden-text">Score</h2>
        <h3 className="hidden-text">The last 90 days</h3>
        <Chart
          bounds={BOUNDS}
          changes={changes}
          series={series}
          thresholds={BANDS}
          title="Score"
          unit="count"
        />
      </div>
    </ChartGroup>
  );
}

/** Where the checks of a maintenance window begin. */
function maintenance(history: History) {
  return history.flatMap(({ at, in_maintenance }, id) =>
    in_maintenance && !history[id - 1]?.in_maintenance
      ? [{ id, at: Date.parse(at) / 1_000, text: 'In maintenance' }]
      : [],
  );
}
