import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import type { DigestDay } from '../../../../src/vocabulary/event-kinds.ts';

type Schedule = NonNullable<Destination['digest']>;

/** How the console names the days of a digest. */
export const DIGEST_DAY_TEXTS: Readonly<Record<DigestDay, string>> = {
  day: 'Each day',
  mon: 'Each Monday',
  tue: 'Each Tuesday',
  wed: 'Each Wednesday',
  thu: 'Each Thursday',
  fri: 'Each Friday',
  sat: 'Each Saturday',
  sun: 'Each Sunday',
};

/** `each Monday at 07:00, Europe/Berlin`. */
export function digestWhen({ every, at, time_zone }: Schedule): string {
  return `${DIGEST_DAY_TEXTS[every].replace('Each', 'each')} at ${at}, ${time_zone}`;
}
