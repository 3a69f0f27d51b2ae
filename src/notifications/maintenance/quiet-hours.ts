import { Rejection } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { instantOfWallTime, requireTimeZone, wallTimeOf } from './time-zone.ts';

const DAY = 86_400_000;

/** `HH:MM`, 00:00 to 23:59. */
export const TIME_OF_DAY = '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$';

/** When a destination gets no warnings and no infos: each day from a time until the next other one. */
export const QuietHours = Type.Object(
  {
    from: Type.String({ pattern: TIME_OF_DAY }),
    to: Type.String({ pattern: TIME_OF_DAY }),
    time_zone: Type.String({ minLength: 1, maxLength: 60 }),
  },
  {
    additionalProperties: false,
    description: 'Enter quiet hours as {"from": "22:00", "to": "07:00", "time_zone": "Europe/Berlin"}.',
  },
);

export type QuietHours = Static<typeof QuietHours>;

/** Quiet hours with the usual name of the time zone. Throws a {@link Rejection} for an unknown zone or an empty span. */
export function requireQuietHours({ from, to, time_zone }: QuietHours): QuietHours {
  if (from !== to) return { from, to, time_zone: requireTimeZone(time_zone) };
  throw new Rejection('invalid_parameter', 'Quiet hours must end at another time than they begin.', {
    parameter: 'quiet_hours',
  });
}

/** When the quiet hours that contain `at` end; null outside of them. */
export function quietUntil(hours: QuietHours | null, at: Date): Date | null {
  if (hours === null) return null;
  const { from, to, time_zone: zone } = hours;
  const now = at.getTime();
  const wall = wallTimeOf(zone, now);
  const today = wall - (wall % DAY);
  for (const day of [today - DAY, today]) {
    const until = day + millisecondsOf(to) + (to < from ? DAY : 0);
    const end = instantOfWallTime(zone, until, 'last');
    if (instantOfWallTime(zone, day + millisecondsOf(from), 'first') <= now && now < end)
      return new Date(end);
  }
  return null;
}

/** The milliseconds from midnight to `HH:MM`. */
export function millisecondsOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return (hours * 60 + minutes) * 60_000;
}
