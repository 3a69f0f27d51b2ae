import './chart.css';
import { type ReactNode, useId, useMemo, useState } from 'react';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { CopyButton } from '../copy.tsx';
import { type Columns, columnsOf, nearest, type Threshold } from './chart-data.ts';
import { useChartGroup, useZoom } from './chart-group.tsx';
import { useChartKeys } from './chart-keys.ts';
import { type ChartChange, ChartMarkers } from './chart-markers.tsx';
import { searchOf } from './chart-range.ts';
import { type ChartSeries, ChartTable } from './chart-table.tsx';
import { findLargest, lastText, lineText, pointTime, summaryText } from './chart-text.ts';
import { usePointedAt } from './crosshair.ts';
import { type Area, Plot } from './plot.tsx';
import { DASHES, MOST_LINES } from './plot-options.ts';

interface ChartProps {
  title: string;
  unit: Unit;
  /** At most {@link MOST_LINES}. */
  series: readonly ChartSeries[];
  thresholds?: readonly Threshold[];
  changes?: readonly ChartChange[];
  /** Its own address, to be shared with the range. */
  anchor?: string;
  /** A sentence below the chart, such as a forecast. */
  note?: ReactNode;
  /** Draws each series on top of the one before. */
  isStacked?: boolean;
  /** The ends of the value axis; by default they follow the values. */
  bounds?: readonly [from: number, to: number] | null;
}

const NONE: readonly never[] = [];

/**
 * Series over the range of the {@link ChartGroup}, with its crosshair. By keyboard: the arrows read the values, + and -
 * zoom, Escape ends the zoom. A table below it has all values.
 */
export function Chart({
  title,
  unit,
  series,
  thresholds = NONE,
  changes = NONE,
  anchor,
  note,
  isStacked = false,
  bounds = null,
}: ChartProps) {
  const { crosshair, span, tables } = useChartGroup();
  const zoom = useZoom();
  const id = useId();
  const [area, setArea] = useState<Area | null>(null);
  const [isTable, setTable] = useState(false);
  const shown = useMemo(() => series.slice(0, MOST_LINES), [series]);
  const columns = useMemo(() => columnsOf(shown.map(({ points }) => points)), [shown]);
  const labels = shown.map(({ label }) => label);
  const resolution = shown[0]?.points.resolution;
  const { from, to } = span;
  const drawing = useMemo(
    () => ({
      columns,
      unit,
      span: { from, to },
      thresholds,
      changes: changes.map(({ at }) => at),
      isStacked,
      bounds,
    }),
    [columns, unit, from, to, thresholds, changes, isStacked, bounds],
  );
  const onKeyDown = useChartKeys(columns, (index) => {
    const values = columns.lines.map((line, place) => {
      const text = lineText(columns.at, line, index, unit);
      return columns.lines.length > 1 ? `${labels[place]} ${text}` : text;
    });
    return `${pointTime(columns.at[index] ?? 0, resolution)}: ${values.join(', ')}`;
  });
  const isEmpty = columns.at.length === 0;
  return (
    <figure className="chart" id={anchor}>
      <div className="chart-head">
        <h4 className="chart-title">{title}</h4>
        {!isEmpty && <Readout columns={columns} labels={labels} resolution={resolution} unit={unit} />}
      </div>
      {isEmpty ? (
        <p className="chart-empty quiet">No values in this range.</p>
      ) : (
        <div className="chart-body">
          <div
            aria-describedby={`${id}-summary ${id}-keys`}
            aria-label={title}
            aria-roledescription="chart"
            className="chart-canvas"
            onBlur={() => crosshair.move(null)}
            onKeyDown={onKeyDown}
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys read its values
            tabIndex={0}
          >
            <Plot crosshair={crosshair} drawing={drawing} onArea={setArea} onZoom={zoom} />
          </div>
          {area && <ChartMarkers area={area} changes={changes} span={span} />}
        </div>
      )}
      <figcaption className="small">
        {!isEmpty && <span id={`${id}-summary`}>{summaryText(columns, labels, unit, thresholds)}</span>}
        <span className="hidden-text" id={`${id}-keys`}>
          The arrow keys read the values. Plus and minus zoom, Escape ends the zoom.
        </span>
        {note && <span className="chart-note">{note}</span>}
        {anchor !== undefined && !isEmpty && (
          <CopyButton
            label="Copy link"
            text={() => chartAddress(anchor, searchOf(span))}
            what={`link of ${title}`}
          />
        )}
      </figcaption>
      {!isEmpty && tables?.areShown && <ChartTable series={shown} title={title} unit={unit} />}
      {!isEmpty && tables === null && (
        <details onToggle={({ currentTarget }) => setTable(currentTarget.open)}>
          <summary className="small">Show as table</summary>
          {isTable && <ChartTable series={shown} title={title} unit={unit} />}
        </details>
      )}
    </figure>
  );
}

/** The address of the page with one of its charts and the range that it shows. */
function chartAddress(anchor: string, range: Readonly<Record<string, string>>): string {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(range)) url.searchParams.set(name, value);
  url.hash = anchor;
  return url.href;
}

interface ReadoutProps {
  columns: Columns;
  labels: readonly string[];
  unit: Unit;
  resolution: ChartSeries['points']['resolution'];
}

/** The values at the crosshair, or the last ones; with several lines also their legend. */
function Readout({ columns, labels, unit, resolution }: ReadoutProps) {
  const { at, lines } = columns;
  const { crosshair } = useChartGroup();
  const pointed = usePointedAt(crosshair);
  const index = pointed === null ? null : nearest(at, pointed);
  const largest = findLargest(columns, index);
  const textOf = (line: (typeof lines)[number]) =>
    index === null ? lastText(line, unit, largest) : lineText(at, line, index, unit, largest);
  const [only] = lines;
  const time = index === null ? 'Last' : pointTime(at[index] ?? 0, resolution);
  return (
    <div aria-hidden="true" className="chart-readout">
      {lines.length === 1 && only ? (
        <>
          <span className="quiet small">{time}</span> <strong>{textOf(only)}</strong>
        </>
      ) : (
        <ul className="chart-legend small">
          <li className="quiet">{time}</li>
          {lines.map((line, place) => (
            <li key={labels[place]}>
              <svg
                aria-hidden="true"
                className={`chart-swatch series-${place + 1}`}
                height="8"
                viewBox="0 0 24 8"
                width="24"
              >
                <path d="M0 4H24" strokeDasharray={DASHES[place]?.join(' ')} />
              </svg>
              <bdi>{labels[place]}</bdi> <strong>{textOf(line)}</strong>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
