import type { Keys } from '../../../../src/console-api/keys/key-routes.ts';
import { fieldInstant } from '../../time-zone.ts';
import type { KEY_STATUSES } from './keys-search.ts';

export type ApiKey = Keys['data'][number];

const DAY_MS = 86_400_000;

/** A key expires soon in its last 14 days, or in the last quarter of a short lifetime. */
const SOON_MS = 14 * DAY_MS;

export type ApiKeyStatus = (typeof KEY_STATUSES)[number];

/** The status of a key at `now` (milliseconds, by the store's clock): keys can expire while the page is open. */
export function statusOf(key: ApiKey, now: number): ApiKeyStatus {
  if (key.state !== 'active') return key.state;
  if (key.revoked_at !== null && at(key.revoked_at) <= now) return 'revoked';
  if (key.expires_at !== null && at(key.expires_at) <= now) return 'expired';
  if (key.replaced_by !== null) return 'replaced';
  return endsSoon(key, now) ? 'expiring' : 'active';
}

function endsSoon({ created_at, expires_at }: ApiKey, now: number): boolean {
  if (expires_at === null) return false;
  const end = at(expires_at);
  return end - now < Math.min(SOON_MS, (end - at(created_at)) / 4);
}

/** Whether requests with it are accepted. */
export function isAccepted(status: ApiKeyStatus): boolean {
  return status === 'active' || status === 'expiring' || status === 'replaced';
}

/** Whether a client still uses the key: then revoking it requires the name. */
export function isInUse(lastUsedAt: string | null, now: number): boolean {
  return lastUsedAt !== null && now - at(lastUsedAt) < 3_600_000;
}

/** The later of two instants, either of which may be missing. */
export function later(a: string | null, b: string | null | undefined): string | null {
  if (a === null || b === null || b === undefined) return a ?? b ?? null;
  return at(a) > at(b) ? a : b;
}

const OVERLAPS = [
  { seconds: 60, label: 'After 1 minute' },
  { seconds: 900, label: 'After 15 minutes' },
  { seconds: 3_600, label: 'After 1 hour' },
  { seconds: 21_600, label: 'After 6 hours' },
  { seconds: 86_400, label: 'After 24 hours' },
];

/**
 * The choices for the end of a regenerated key, never past its own expiry. The first overlap that would reach it becomes
 * "When it expires" and is the last choice.
 */
export function overlapChoices(expiresAt: string | null, now: number): { seconds: number; label: string }[] {
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : (at(expiresAt) - now) / 1000;
  const shorter = OVERLAPS.filter(({ seconds }) => seconds < left);
  const reaching = OVERLAPS[shorter.length];
  return [
    { seconds: 0, label: 'Immediately' },
    ...shorter,
    ...(reaching ? [{ seconds: reaching.seconds, label: 'When it expires' }] : []),
  ];
}

/**
 * Whole seconds from `now` to the end of a day in the chosen time zone, such as `2027-01-31`; null when that is past or
 * invalid.
 */
export function secondsToEndOf(day: string, now: number): number | null {
  const end = fieldInstant(`${day}T23:59:59`).getTime();
  return end > now ? Math.round((end - now) / 1000) : null;
}

function at(instant: string): number {
  return new Date(instant).getTime();
}
