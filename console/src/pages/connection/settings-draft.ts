import type {
  ConnectionChange,
  ConnectionSettings,
} from '../../../../src/console-api/connections/connection-schemas.ts';
import { isWeakerTls } from '../../../../src/vocabulary/tls-modes.ts';
import { addressOf, type ConnectionDraft, isSocket, sshOf } from '../../parts/connection-draft.ts';

/** The settings as form values. Secrets are never sent to the browser, so their fields are empty. */
export function draftOf(settings: ConnectionSettings): ConnectionDraft {
  const { name, engine, host, port, database, username, tls, password_exposable, ssh } = settings;
  return {
    name,
    engine,
    host,
    database,
    username,
    tls,
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
    pulse: String(settings.pulse_seconds),
    backupExpected: String(settings.backup_expected_seconds),
    expectedStandbys: String(settings.expected_standbys),
  };
}

type Field = keyof ConnectionDraft;

/** The fields that the user changed. */
export function changedFields(base: ConnectionDraft, draft: ConnectionDraft): Field[] {
  return (Object.keys(draft) as Field[]).filter((field) => draft[field] !== base[field]);
}

const ADDRESS: readonly Field[] = ['host', 'port', 'database', 'username'];
const TUNNEL: readonly Field[] = ['hasTunnel', 'sshUsername', 'sshHost', 'sshPort', 'sshKey'];

/** The body of the change. Unchanged fields are not sent. */
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
    ...(isChanged('pulse') && { pulse_seconds: Number(draft.pulse) }),
    ...(isChanged('backupExpected') && { backup_expected_seconds: Number(draft.backupExpected) }),
    ...(isChanged('expectedStandbys') && { expected_standbys: Number(draft.expectedStandbys) }),
  };
}

/** Whether the SSH key must be entered again: the stored key is not used for another server or user. */
export function needsSshKey(base: ConnectionDraft, draft: ConnectionDraft): boolean {
  const changed = changedFields(base, draft);
  return (['sshUsername', 'sshHost', 'sshPort'] as const).some((field) => changed.includes(field));
}

/**
 * Whether the password must be entered again: it would go to another server or with less protection. The service enforces
 * this.
 */
export function needsPassword(base: ConnectionDraft, draft: ConnectionDraft): boolean {
  const changed = changedFields(base, draft);
  const elsewhere = (['host', 'port', ...TUNNEL] as const).some((field) => changed.includes(field));
  const lessProtected =
    isWeakerTls(draft.tls, base.tls) || (draft.passwordExposable && !base.passwordExposable);
  return elsewhere || lessProtected || changed.includes('caCertificate');
}

/** Applies the user's changes on top of someone else's. */
export function rebased(
  base: ConnectionDraft,
  draft: ConnectionDraft,
  onto: ConnectionDraft,
): ConnectionDraft {
  const mine = changedFields(base, draft).map((field) => [field, draft[field]]);
  return { ...onto, ...Object.fromEntries(mine) };
}
