import { Rejection } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { DIGEST_DAYS, type DigestDay } from '../../vocabulary/event-kinds.ts';
import { millisecondsOf, TIME_OF_DAY } from '../maintenance/quiet-hours.ts';
import { instantOfWallTime, requireTimeZone, wallTimeOf } from '../maintenance/time-zone.ts';

const DAY = 86_400_000;

const EXPECTED =
  'Enter a digest as {"every": "mon", "at": "07:00", "time_zone": "Europe/Berlin"}; every is day, or mon to sun.';

/** When a destination gets a digest: each day or once a week, at a time of day in a time zone. */
export const DigestSchedule = Type.Object(
  {
    every: Type.Unsafe<DigestDay>({ type: 'string', enum: [...DIGEST_DAYS] }),
    at: Type.String({ pattern: TIME_OF_DAY }),
    time_zone: Type.String({ minLength: 1, maxLength: 60 }),
  },
  { additionalProperties: false, description: EXPECTED },
);

export type DigestSchedule = Static<typeof DigestSchedule>;

/** A schedule with the usual name of its time zone. Throws a {@link Rejection} for an unknown zone, day or time. */
export function requireDigestSchedule({ every, at, time_zone }: DigestSchedule): DigestSchedule {
  if (!DIGEST_DAYS.includes(every) || !new RegExp(TIME_OF_DAY).test(at))
    throw new Rejection('invalid_parameter', EXPECTED, { parameter: 'digest' });
  return { every, at, time_zone: requireTimeZone(time_zone, 'digest') };
}

/** When the next digest is due after `at`. A time that the clocks show twice is the first of both, one that they skip is when they are put forward. */
export function nextDigest(schedule: DigestSchedule, at: Date): Date {
  const after = digestsAround(schedule, at).filter((instant) => instant > at.getTime());
  return new Date(Math.min(...after));
}

/** When the digest before that of `at` was due. */
export function previousDigest(schedule: DigestSchedule, at: Date): Date {
  const before = digestsAround(schedule, at).filter((instant) => instant < at.getTime());
  return new Date(Math.max(...before));
}

/** The digests of the nine days before and after. */
function digestsAround({ every, at: time, time_zone: zone }: DigestSchedule, at: Date): number[] {
  const wall = wallTimeOf(zone, at.getTime());
  const today = wall - (wall % DAY);
  const days = Array.from({ length: 19 }, (_, n) => today + (n - 9) * DAY);
  return days
    .filter((day) => every === 'day' || DIGEST_DAYS.indexOf(every) === (new Date(day).getUTCDay() || 7))
    .map((day) => instantOfWallTime(zone, day + millisecondsOf(time), 'first'));
}
