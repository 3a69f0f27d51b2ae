import { useState } from 'react';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy.tsx';
import { figure } from '../figure.ts';
import { type Column, Table } from '../table.tsx';
import { csvOf } from './chart-csv.ts';
import type { Points } from './chart-data.ts';
import { pointTime } from './chart-text.ts';
import { valueText } from './value-text.ts';

/** A series of a chart. */
export interface ChartSeries {
  id: number;
  /** Tells it from the other lines of the chart. It may come from the monitored server. */
  label: string;
  points: Points;
}

/** Rows per press of the button. */
const PART = 100;

type Values = readonly (number | null)[];

/** The columns of values: those of each series; of a single one also the lowest, highest and mean. */
function valueColumns(
  series: readonly ChartSeries[],
): { id: string; header: string; values: ReadonlyMap<number, number | null> }[] {
  const column = (id: string, header: string, at: readonly number[], values: Values) => ({
    id,
    header,
    values: new Map(at.map((time, index) => [time, values[index] ?? null])),
  });
  const [only] = series;
  const { at, last, minimum, maximum, mean } = only?.points ?? { at: [], last: [] };
  if (series.length === 1 && minimum && maximum && mean) {
    return [
      column('minimum', 'Minimum', at, minimum),
      column('mean', 'Mean', at, mean),
      column('maximum', 'Maximum', at, maximum),
      column('last', 'Last', at, last),
    ];
  }
  return series.map(({ id, label, points }) =>
    column(String(id), series.length === 1 ? 'Value' : label, points.at, points.mean ?? points.last),
  );
}

interface ChartTableProps {
  title: string;
  unit: Unit;
  series: readonly ChartSeries[];
}

/** The values of a chart, latest first, and all of them as CSV. */
export function ChartTable({ title, unit, series }: ChartTableProps) {
  const [shown, setShown] = useState(PART);
  const times = [...new Set(series.flatMap(({ points }) => points.at))].sort((a, b) => b - a);
  const resolution = series[0]?.points.resolution;
  const columns: Column<number>[] = [
    {
      id: 'time',
      header: 'Time',
      width: 'minmax(9rem, 1.4fr)',
      narrow: 'lead',
      cell: (at) => pointTime(at, resolution),
    },
    ...valueColumns(series).map(
      ({ id, header, values }): Column<number> => ({
        id,
        header,
        align: 'end',
        cell: (at) => {
          const value = values.get(at);
          return typeof value === 'number' ? valueText(value, unit) : <span className="quiet">no value</span>;
        },
      }),
    ),
  ];
  return (
    <div className="chart-table">
      <CopyButton label="Copy as CSV" text={() => csvOf(series)} what="CSV" />
      <section
        aria-label={`${title}: values`}
        className={columns.length === 2 ? 'chart-values pair' : 'chart-values'}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <Table columns={columns} label={title} rowKey={(at) => at} rows={times.slice(0, shown)} />
        {times.length > shown && (
          <Button onPress={() => setShown(shown + PART)} small>
            Show {figure(Math.min(PART, times.length - shown))} more of {figure(times.length)}
          </Button>
        )}
      </section>
    </div>
  );
}
