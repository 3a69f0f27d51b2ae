import { useQuery } from '@tanstack/react-query';
import type { FleetRange } from '../../../../src/vocabulary/fleet-ranges.ts';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { valueText } from '../../parts/chart/value-text.ts';
import { Sparkline } from '../../parts/sparkline.tsx';
import { lineQuery } from './fleet-lines-query.ts';
import { lineText } from './line-text.ts';

interface FleetLineProps {
  connectionId: number;
  metric: string;
  /** Of the vital sign, in words. */
  title: string;
  unit: Unit;
  range: FleetRange;
  /** Of the line; default: as in a row. */
  size?: { width: number; height: number };
}

/** A vital sign of one connection: a line from 0 to its own highest value (a ratio: to 1), and the latest value. */
export function FleetLine({ connectionId, metric, title, unit, range, size }: FleetLineProps) {
  const { data, error } = useQuery(lineQuery(metric, range, connectionId));
  if (!data) return <span className="quiet">{error ? 'not available' : ''}</span>;
  const values = data.last.filter((value) => value !== null);
  const latest = values.at(-1);
  if (latest === undefined) return <span className="quiet">not measured</span>;
  const span = data.to - data.from;
  return (
    <span className="fleet-line">
      <Sparkline
        {...size}
        label={lineText(title, values, unit)}
        max={unit === 'ratio' ? 1 : Math.max(...values) || 1}
        places={data.at.map((at) => Math.min(1, Math.max(0, (at - data.from) / span)))}
        values={data.last}
      />
      <span className="second-line">{valueText(latest, unit)}</span>
    </span>
  );
}
