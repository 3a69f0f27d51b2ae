import type {
  NewConnection,
  TestedConnection,
} from '../../../../src/console-api/connections/connection-schemas.ts';
import { engineOfScheme, isSqlEngine, traitsOf } from '../../../../src/vocabulary/engines.ts';
import { verifiesServer } from '../../../../src/vocabulary/tls-modes.ts';
import {
  addressOf,
  type ConnectionDraft,
  emptyDraft,
  isSocket,
  sshOf,
} from '../../parts/connection-draft.ts';
import { tagsIn } from '../../parts/tags.tsx';

/** The form's content. With a URL, the draft's host and login are ignored. */
export interface ConnectionInput {
  url: string | null;
  draft: ConnectionDraft;
  /** As typed, separated by spaces or commas. */
  tags?: string;
  storesTexts?: boolean;
}

// Parsed as the service does. The service reports any other error in the URL.
const URL_START = /^(postgres(?:ql)?|mysql|mariadb|pgbouncer):\/\/(?:([^:@/?#]+)(?::[^@/?#]*)?@)?([^@/?#]*)/;

/** The engine and user from the URL or the fields, as far as they are typed. */
export function loginOf({ url, draft }: ConnectionInput): {
  engine: ConnectionDraft['engine'];
  username: string;
} {
  if (url === null) return { engine: draft.engine, username: draft.username.trim() };
  const [, scheme = 'postgres', user = ''] = URL_START.exec(url.trim()) ?? [];
  return {
    engine: engineOfScheme(scheme),
    username: decoded(user),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Whether the address is a Unix socket, which has no TLS. */
export function leadsToSocket({ url, draft }: ConnectionInput): boolean {
  if (url === null) return isSocket(draft);
  const [whole, , , host = ''] = URL_START.exec(url.trim()) ?? [];
  return whole !== undefined && (host === '' || decoded(host).startsWith('/'));
}

/** The body of a test: address, TLS and tunnel. */
export function testedOf(given: ConnectionInput): TestedConnection {
  const { url, draft } = given;
  const { engine } = loginOf(given);
  const socket = leadsToSocket(given);
  const standbys = Number(draft.expectedStandbys);
  return {
    ...(url === null ? { address: addressOf(draft) } : { url: url.trim() }),
    ...(url === null && draft.password !== '' && { password: draft.password }),
    ...(!socket && { tls: draft.tls }),
    ...(draft.passwordExposable && { password_exposable: true }),
    ...(!socket &&
      verifiesServer(draft.tls) &&
      draft.caCertificate.trim() !== '' && {
        ca_certificate: draft.caCertificate,
      }),
    ...(!socket && draft.hasTunnel && { ssh: sshOf(draft) }),
    ...(traitsOf(engine).hasStandbys && standbys > 0 && { expected_standbys: standbys }),
  };
}

/** The body of a new connection: the tested settings, the name, the check interval and the tags. */
export function newOf(given: ConnectionInput): NewConnection {
  const { name, interval, pulse, backupExpected } = given.draft;
  const tags = tagsIn(given.tags ?? '');
  // A pooler has neither backups nor queries.
  const isSql = isSqlEngine(loginOf(given).engine);
  return {
    ...testedOf(given),
    name: name.trim(),
    interval_seconds: Number(interval),
    ...(pulse !== emptyDraft.pulse && { pulse_seconds: Number(pulse) }),
    ...(isSql &&
      backupExpected !== emptyDraft.backupExpected && {
        backup_expected_seconds: Number(backupExpected),
      }),
    ...(isSql && given.storesTexts && { query_texts: true }),
    ...(tags.length > 0 && { tags }),
  };
}
