import './day-range.css';
import { isUtc, useTimeZone } from '../time-zone.ts';
import { boxedDay } from './day.ts';
import { TextField } from './field.tsx';

interface DayRangeProps {
  /** The label of the first field, such as "First seen from". */
  label: string;
  /** A day or an instant, as in the URL. */
  from: string | undefined;
  to: string | undefined;
  onChange: (range: { from: string | undefined; to: string | undefined }) => void;
}

/** A range of days, both included, in the chosen time zone. */
export function DayRange({ label, from, to, onChange }: DayRangeProps) {
  useTimeZone();
  const zone = isUtc() ? ' (UTC)' : '';
  return (
    <div className="day-range">
      <TextField
        label={`${label}${zone}`}
        onChange={(day) => onChange({ from: day || undefined, to })}
        type="date"
        value={boxedDay(from)}
      />
      <TextField
        label={`To${zone}`}
        onChange={(day) => onChange({ from, to: day || undefined })}
        type="date"
        value={boxedDay(to)}
      />
    </div>
  );
}
