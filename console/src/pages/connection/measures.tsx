import '../../measures/measures.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ConnectionMeasures } from '../../../../src/console-api/measures/measure-schemas.ts';
import { MeasureChart } from '../../measures/measure-chart.tsx';
import {
  type ChartGroupOf,
  type ChartOf,
  checkCharts,
  isLinkedTo,
  vitalGroups,
} from '../../measures/measure-groups.ts';
import { markedChangesQuery, measuresQuery } from '../../measures/measures-query.ts';
import { Button } from '../../parts/button.tsx';
import { useChartGroup } from '../../parts/chart/chart-group.tsx';
import { MOST_LINES } from '../../parts/chart/plot-options.ts';
import { RangeSwitch } from '../../parts/chart/range-switch.tsx';
import { figure } from '../../parts/figure.ts';
import { Section } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';

/** The vital signs of a connection and the values of its checks, as charts with one range and one crosshair. */
export function Measures({ connectionId }: { connectionId: string }) {
  const query = useQuery(measuresQuery(connectionId));
  return (
    <Section
      actions={<RangeSwitch />}
      description="Vital signs, and the values that checks compare. Drag over a chart to zoom."
      title="Charts"
    >
      <Loaded query={query}>
        {(measures) =>
          measures.measures.length === 0 ? (
            <Message icon="clock" title="No measurements yet">
              Each check adds its values here.
            </Message>
          ) : (
            <Charts connectionId={connectionId} measures={measures} />
          )
        }
      </Loaded>
    </Section>
  );
}

function Charts({
  connectionId,
  measures: { measures, dropped },
}: {
  connectionId: string;
  measures: ConnectionMeasures;
}) {
  const groups = useMemo(
    () =>
      [...vitalGroups(measures), { title: 'Values of checks', charts: checkCharts(measures) }].filter(
        ({ charts }) => charts.length > 0,
      ),
    [measures],
  );
  return (
    <div className="measures">
      <a className="skip-link" href="#after-measures">
        Skip the charts
      </a>
      {dropped > 0 && (
        <p className="quiet">
          {figure(dropped)} {dropped === 1 ? 'value has' : 'values have'} no history: a connection keeps that
          of 300 series.
        </p>
      )}
      <MarkedChanges connectionId={connectionId} />
      {groups.map((group, place) => (
        <Group connectionId={connectionId} group={group} isFirst={place === 0} key={group.title} />
      ))}
      <span id="after-measures" tabIndex={-1} />
    </div>
  );
}

interface GroupProps {
  connectionId: string;
  group: ChartGroupOf;
  isFirst: boolean;
}

/** Charts below a heading. All but the first are folded: a page of all charts would be five screens high. */
function Group({ connectionId, group: { title, charts }, isFirst }: GroupProps) {
  const [isOpen, setOpen] = useState(() => isFirst || charts.some(({ key }) => isLinkedTo(key)));
  return (
    <details
      className="measure-group"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <h3>{title}</h3> <span className="quiet small">{figure(charts.length)}</span>
      </summary>
      {isOpen && (
        <div className="measure-grid">
          {charts.map((chart) => (
            <ChartsOf chart={chart} connectionId={connectionId} key={chart.key} />
          ))}
        </div>
      )}
    </details>
  );
}

/** Says that not all changes are marked. */
function MarkedChanges({ connectionId }: { connectionId: string }) {
  const { span } = useChartGroup();
  const { data } = useQuery({ ...markedChangesQuery(connectionId, span), enabled: false });
  if (!data?.next) return null;
  return (
    <p className="quiet small">
      Only the latest {figure(data.changes.length)} changes are marked in the charts.
    </p>
  );
}

/** A chart of the most important measures, and the others on request. */
function ChartsOf({ chart, connectionId }: { chart: ChartOf; connectionId: string }) {
  const [shown, setShown] = useState(1);
  const parts = useMemo(() => {
    const count = Math.ceil(chart.measures.length / MOST_LINES);
    return Array.from(
      { length: count },
      (_, part): ChartOf => ({
        ...chart,
        title: part === 0 ? chart.title : `${chart.title} (from ${part * MOST_LINES + 1})`,
        measures: chart.measures.slice(part * MOST_LINES, (part + 1) * MOST_LINES),
      }),
    );
  }, [chart]);
  const left = chart.measures.length - shown * MOST_LINES;
  return (
    <div className="measure-cell">
      {parts.slice(0, shown).map((part) => (
        <MeasureChart chart={part} connectionId={connectionId} key={part.title} />
      ))}
      {left > 0 && (
        <div>
          <Button onPress={() => setShown(shown + 1)} small>
            Show {figure(Math.min(left, MOST_LINES))} more of {figure(chart.measures.length)}
            <span className="hidden-text">: {chart.title}</span>
          </Button>
        </div>
      )}
    </div>
  );
}
