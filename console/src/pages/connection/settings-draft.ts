import type {
  ConnectionChange,
  ConnectionSettings,
} from '../../../../src/console/connections/connections.ts';
import { addressOf, type ConnectionDraft, isSocket, sshOf } from '../../parts/connection-draft.ts';

/** The settings as the form holds them; secrets are never told, so their boxes are empty. */
export function draftOf(settings: ConnectionSettings): ConnectionDraft {
  const { name, engine, host, port, database, username, tls, password_exposable, ssh } = settings;
  return {
    ...{ name, engine, host, database, username, tls },
    port: String(port),
    password: '',
    passwordExposable: password_exposable,
    caCertificate: '',
    hasTunnel: ssh !== null,
    sshUsername: ssh?.username ?? '',
    sshHost: ssh?.host ?? '',
    sshPort: String(ssh?.port ?? 22),
    sshKey: '',
    interval: settings.interval_seconds === null ? '' : String(settings.interval_seconds),
    expectedStandbys: String(settings.expected_standbys),
  };
}

type Field = keyof ConnectionDraft;

/** The fields that were changed by hand. */
export function changedFields(base: ConnectionDraft, draft: ConnectionDraft): Field[] {
  return (Object.keys(draft) as Field[]).filter((field) => draft[field] !== base[field]);
}

const ADDRESS: readonly Field[] = ['host', 'port', 'database', 'username'];
const TUNNEL: readonly Field[] = ['hasTunnel', 'sshUsername', 'sshHost', 'sshPort', 'sshKey'];

/** The change as the route wants it: what was not changed is not sent, so that it stays. */
export function changeOf(version: number, base: ConnectionDraft, draft: ConnectionDraft): ConnectionChange {
  const changed = changedFields(base, draft);
  const isChanged = (...fields: readonly Field[]) => fields.some((field) => changed.includes(field));
  return {
    version,
    ...(isChanged('name') && { name: draft.name.trim() }),
    ...(isChanged(...ADDRESS, 'password') && { address: addressOf(draft) }),
    ...(isChanged('password') && { password: draft.password }),
    ...(isChanged('tls') && !isSocket(draft) && { tls: draft.tls }),
    ...(isChanged('passwordExposable') && { password_exposable: draft.passwordExposable }),
    ...(isChanged('caCertificate') && { ca_certificate: draft.caCertificate }),
    ...(isChanged(...TUNNEL) && { ssh: draft.hasTunnel ? sshOf(draft) : null }),
    ...(isChanged('interval') && { interval_seconds: Number(draft.interval) }),
    ...(isChanged('expectedStandbys') && { expected_standbys: Number(draft.expectedStandbys) }),
  };
}

/** Whether the stored SSH key must be entered again: it is not used at another server, nor for another user. */
export function needsSshKey(base: ConnectionDraft, draft: ConnectionDraft): boolean {
  const changed = changedFields(base, draft);
  return (['sshUsername', 'sshHost', 'sshPort'] as const).some((field) => changed.includes(field));
}

const TLS: readonly ConnectionDraft['tls'][] = ['verify-full', 'require', 'disable'];

/** Whether a stored password must be entered again: it would go elsewhere, or less protected. The service has the last word. */
export function needsPassword(base: ConnectionDraft, draft: ConnectionDraft): boolean {
  const changed = changedFields(base, draft);
  const elsewhere = (['host', 'port', ...TUNNEL] as const).some((field) => changed.includes(field));
  const lessProtected =
    TLS.indexOf(draft.tls) > TLS.indexOf(base.tls) || (draft.passwordExposable && !base.passwordExposable);
  return elsewhere || lessProtected || changed.includes('caCertificate');
}

/** What was changed by hand, upon what somebody else has changed meanwhile. */
export function rebased(
  base: ConnectionDraft,
  draft: ConnectionDraft,
  onto: ConnectionDraft,
): ConnectionDraft {
  const mine = changedFields(base, draft).map((field) => [field, draft[field]]);
  return { ...onto, ...Object.fromEntries(mine) };
}
