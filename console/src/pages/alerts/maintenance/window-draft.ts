import type { NewMaintenance } from '../../../../../src/console/alerts/alert-schemas.ts';
import { ALL_CONNECTIONS, type ScopeDraft, scopeOf } from '../../../parts/connection-choice.tsx';
import { numberIn } from '../../../parts/number-in.ts';
import { fieldInstant, zoneName } from '../../../time-zone.ts';

/** What is entered in the form of a maintenance window. */
export interface WindowDraft extends ScopeDraft {
  name: string;
  repeats: 'once' | 'weekly';
  /** Values of date-time fields; an empty start is now. */
  starts: string;
  ends: string;
  weekdays: number[];
  time: string;
  zone: string;
  /** Hours, such as 1.5. */
  hours: string;
}

/** The form of a new window, in the chosen time zone. */
export function newWindow(zone = zoneName()): WindowDraft {
  return {
    ...{ name: '', repeats: 'once', starts: '', ends: '', weekdays: [7], time: '02:00', zone, hours: '2' },
    ...ALL_CONNECTIONS,
  };
}

/** The window that a form describes. Throws nothing: what is missing is left out, and the service says so. */
export function windowOf(draft: WindowDraft): NewMaintenance {
  const common = { name: draft.name, connections: scopeOf(draft) };
  if (draft.repeats === 'once') {
    return {
      ...common,
      ...(draft.starts !== '' && { starts_at: fieldInstant(draft.starts).toISOString() }),
      ...(draft.ends !== '' && { ends_at: fieldInstant(draft.ends).toISOString() }),
    };
  }
  const hours = numberIn(draft.hours);
  return {
    ...common,
    ...{ weekdays: draft.weekdays.toSorted(), start_time: draft.time, time_zone: draft.zone.trim() },
    ...(typeof hours === 'number' && { minutes: Math.round(hours * 60) }),
  };
}
