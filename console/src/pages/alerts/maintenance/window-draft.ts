import type { NewMaintenance } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { ALL_CONNECTIONS, scopeOf } from '../../../parts/connection-choice.tsx';
import { numberIn } from '../../../parts/number-in.ts';
import { fieldInstant, zoneName } from '../../../time-zone.ts';

/** The form of a new window, in the chosen time zone. */
export function newWindow(zone = zoneName()) {
  return {
    name: '',
    repeats: 'once' as 'once' | 'weekly',
    /** Values of date-time fields; an empty start is now. */
    starts: '',
    ends: '',
    weekdays: [7],
    time: '02:00',
    zone,
    /** Such as 1.5. */
    hours: '2',
    ...ALL_CONNECTIONS,
  };
}

/** What is entered in the form of a maintenance window. */
export type WindowDraft = ReturnType<typeof newWindow>;

/** What is wrong with the value of a date-time field, such as a year of six digits; null when nothing is. */
export function instantError(value: string): string | null {
  return value !== '' && Number.isNaN(fieldInstant(value).getTime()) ? 'Enter a year of four digits.' : null;
}

/** The window that a form describes. Missing or invalid values are left out, and the service rejects the window. */
export function windowOf(draft: WindowDraft): NewMaintenance {
  const common = { name: draft.name, connections: scopeOf(draft) };
  if (draft.repeats === 'once') {
    const { starts, ends } = draft;
    // Without a start the window would begin now.
    if (instantError(starts) !== null) return common;
    return {
      ...common,
      ...(starts !== '' && { starts_at: fieldInstant(starts).toISOString() }),
      ...(ends !== '' && instantError(ends) === null && { ends_at: fieldInstant(ends).toISOString() }),
    };
  }
  const hours = numberIn(draft.hours);
  return {
    ...common,
    weekdays: draft.weekdays.toSorted(),
    start_time: draft.time,
    time_zone: draft.zone.trim(),
    ...(typeof hours === 'number' && { minutes: Math.round(hours * 60) }),
  };
}
