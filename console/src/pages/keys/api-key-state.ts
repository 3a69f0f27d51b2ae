import type { Keys, KeyWindows } from '../../../../src/console/keys/keys.ts';
import type { Action } from '../../parts/menu.tsx';
import { isAccepted, type Key, type KeyStatus, later, statusOf } from './api-key-lifetime.ts';

/** A key with what is known of it this moment. */
export interface KeyNow {
  subject: Key;
  status: KeyStatus;
  lastUsedAt: string | null;
  window: KeyWindows['data'][number] | undefined;
}

/** Joins what was read of keys and their windows; `now` by the store's clock. */
export function keysNow(keys: Keys, windows: KeyWindows | undefined, now: number): KeyNow[] {
  const windowOf = new Map(windows?.data.map((window) => [window.id, window]));
  return keys.data.map((subject) => {
    const window = windowOf.get(subject.id);
    const lastUsedAt = later(subject.last_used_at, window?.last_used_at);
    return { subject, window, lastUsedAt, status: statusOf(subject, now) };
  });
}

/** What can be done with a key; null where the member may not, or nothing is left to do. */
export type KeyAction = (what: 'regenerate' | 'revoke', key: KeyNow) => void;

/** The actions of a key, as far as they make sense now. */
export function actionsOf(key: KeyNow, act: KeyAction): Action[] {
  if (!isAccepted(key.status)) return [];
  const revoke: Action = {
    id: 'revoke',
    label: 'Revoke…',
    icon: 'bin',
    danger: true,
    onAction: () => act('revoke', key),
  };
  if (key.status === 'replaced') return [revoke];
  return [
    { id: 'regenerate', label: 'Regenerate…', icon: 'again', onAction: () => act('regenerate', key) },
    revoke,
  ];
}
