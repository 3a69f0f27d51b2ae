import type { Keys, KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';
import type { Action } from '../../parts/menu.tsx';
import { type ApiKey, type ApiKeyStatus, isAccepted, later, statusOf } from './api-key-lifetime.ts';

/** An API key with its current status and use. */
export interface ApiKeyState {
  subject: ApiKey;
  status: ApiKeyStatus;
  lastUsedAt: string | null;
  window: KeyWindows['data'][number] | undefined;
}

/** Joins keys with their rate-limit windows; `now` by the store's clock. */
export function apiKeyStates(keys: Keys, windows: KeyWindows | undefined, now: number): ApiKeyState[] {
  const windowOf = new Map(windows?.data.map((window) => [window.id, window]));
  return keys.data.map((subject) => {
    const window = windowOf.get(subject.id);
    const lastUsedAt = later(subject.last_used_at, window?.last_used_at);
    return { subject, window, lastUsedAt, status: statusOf(subject, now) };
  });
}

/** The dialogs of a key. */
export type ApiKeyDialog = 'access' | 'regenerate' | 'revoke';

/** Starts an action on a key. */
export type ApiKeyAction = (what: ApiKeyDialog, key: ApiKeyState) => void;

/** The actions that a key's status allows. */
export function actionsOf(key: ApiKeyState, act: ApiKeyAction): Action[] {
  if (!isAccepted(key.status)) return [];
  const regenerate: Action = { label: 'Regenerate…', icon: 'again', onAction: () => act('regenerate', key) };
  return [
    { label: 'Change access…', icon: 'pen', onAction: () => act('access', key) },
    ...(key.status === 'replaced' ? [] : [regenerate]),
    { label: 'Revoke…', icon: 'bin', danger: true, onAction: () => act('revoke', key) },
  ];
}
