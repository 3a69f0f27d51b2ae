import { useQuery } from '@tanstack/react-query';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { ListedChange } from '../../../src/console-api/changes/change-schemas.ts';
import type { LatestMeasure } from '../../../src/console-api/measures/measure-schemas.ts';
import { changeText } from '../../../src/platform/text/change-text.ts';
import { Chart } from '../parts/chart/chart.tsx';
import type { Threshold } from '../parts/chart/chart-data.ts';
import { useChartGroup } from '../parts/chart/chart-group.tsx';
import type { ChartChange } from '../parts/chart/chart-markers.tsx';
import { forecastText, nameLimit } from '../parts/chart/forecast-text.ts';
import { ErrorState } from '../parts/states.tsx';
import { useNow } from '../parts/time.tsx';
import { type ChartOf, chartAnchor, isLinkedTo, lineLabel } from './measure-groups.ts';
import { historyQuery, markedChangesQuery } from './measures-query.ts';

/** The levels that a measure is compared with. */
function listThresholds(measure: LatestMeasure): Threshold[] {
  const { warning, critical, limit } = measure;
  const levels = [
    { label: 'warning', value: warning, level: 'warning' },
    { label: 'critical', value: critical, level: 'critical' },
    { label: 'full', value: nameLimit(measure) === 'full' ? limit : null, level: 'limit' },
  ] as const;
  return levels.flatMap(({ value, ...rest }) => (value === null ? [] : [{ ...rest, value }]));
}

/** A change as a mark of a chart. */
export function chartChange(change: ListedChange): ChartChange {
  return { id: change.id, at: Date.parse(change.at) / 1_000, text: changeText(change) };
}

/** Forecasts listed below a chart. */
const FORETOLD = 3;

/** The forecasts of a chart's measures, a sentence each. */
function Forecasts({ measures }: { measures: readonly LatestMeasure[] }) {
  const now = useNow();
  const found = measures.filter(({ forecast }) => forecast !== null).slice(0, FORETOLD);
  if (found.length === 0) return null;
  return (
    <ul>
      {found.map((measure) => (
        <li key={measure.series_id}>
          {measures.length > 1 && <bdi>{lineLabel(measure)}: </bdi>}
          {measure.forecast && forecastText(measure, measure.forecast, now)}
        </li>
      ))}
    </ul>
  );
}

interface MeasureChartProps {
  connectionId: string;
  /** At most six measures. */
  chart: ChartOf;
}

/** The history of measures as a chart. It is read while the chart is in the window. */
export function MeasureChart({ connectionId, chart: { key, title, unit, measures } }: MeasureChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isLinked] = useState(() => isLinkedTo(key));
  useEffect(() => {
    if (isLinked) place.current?.scrollIntoView({ block: 'center' });
  }, [isLinked]);
  const isVisible = useIsVisible(place);
  const { span } = useChartGroup();
  const ids = measures.map(({ series_id }) => series_id);
  const history = useQuery({ ...historyQuery(connectionId, ids, span), enabled: isVisible });
  const marked = useQuery({ ...markedChangesQuery(connectionId, span), enabled: isVisible });
  const series = useMemo(
    () =>
      (history.data?.series ?? []).map((points) => {
        const measure = measures.find(({ series_id }) => series_id === points.series_id);
        return { id: points.series_id, label: measure ? lineLabel(measure) : title, points };
      }),
    [history.data, measures, title],
  );
  const changes = useMemo(() => marked.data?.changes.map(chartChange), [marked.data]);
  const thresholds = useMemo(() => measures.slice(0, 1).flatMap(listThresholds), [measures]);
  return (
    <div
      aria-busy={history.isFetching}
      className={isLinked ? 'measure-chart linked-chart' : 'measure-chart'}
      ref={place}
    >
      {history.data ? (
        <Chart
          anchor={chartAnchor(key)}
          note={<Forecasts measures={measures} />}
          series={series}
          thresholds={thresholds}
          title={title}
          unit={unit}
          {...(changes && { changes })}
        />
      ) : history.error && !history.isFetching ? (
        <ErrorState error={history.error} onRetry={() => void history.refetch()} />
      ) : (
        <>
          <h4 className="chart-title">{title}</h4>
          {isVisible && <span className="skeleton" />}
        </>
      )}
    </div>
  );
}

/** Whether the element is in the window or just below it. */
function useIsVisible(element: RefObject<HTMLElement | null>): boolean {
  const [isVisible, setVisible] = useState(false);
  useEffect(() => {
    if (!element.current) return;
    const observer = new IntersectionObserver(
      (entries) => setVisible(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: '200px 0px' },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return isVisible;
}
