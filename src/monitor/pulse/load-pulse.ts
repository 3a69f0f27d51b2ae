import { isDeepStrictEqual } from 'node:util';
import type { Thresholds } from '../../checks/check.ts';
import { CollectedConnection, isCollected } from '../../connections/collected-connection.ts';
import {
  type Destination,
  decryptSecrets,
  destinationColumns,
  type EncryptedSecrets,
} from '../../connections/credentials.ts';
import {
  defaultsOf,
  type Override,
  thresholdsOfRun,
} from '../../connections/thresholds/effective-thresholds.ts';
import { overridesOfConnection } from '../../connections/thresholds/list-overrides.ts';
import { listPulseRules, type PulseRule } from '../../notifications/alerts/evaluation/pulse-rules.ts';
import { within } from '../../store/read.ts';
import { tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import { type EngineFamily, familyOf } from '../../vocabulary/engines.ts';
import { type TargetRow, toTarget } from '../load-run.ts';
import type { ConnectionKey, MonitorDeps } from '../monitor-deps.ts';
import type { Target } from '../session/session.ts';
import { forgetToken, tokenFor } from '../tokens/token-command.ts';
import type { PulseThresholds } from './watch/watch-pulses.ts';

/** What the pulses of a connection need. */
export interface LoadedPulse {
  target: Target;
  /** The name of the operator's command that prints the password; null = the target has it. */
  tokenSource: string | null;
  /** Until then its command is not asked again (`performance.now()`), because it gave no new one. */
  noTokenUntil: number;
  thresholds: PulseThresholds;
}

const select = `
  select ${destinationColumns}, c.credential, c.ssh_credential, ${isCollected} as "isCollected", c.name,
         c.pulse_seconds as "pulseSeconds", thresholds, ${tagsOfConnection} as tags,
         ${overridesOfConnection} as overrides
    from connection c
   where account_id = $1 and connection_id = $2 and removed_at is null`;

type PulseRow = Destination &
  EncryptedSecrets &
  TargetRow & {
    isCollected: boolean;
    name: string;
    pulseSeconds: number;
    thresholds: Record<string, Thresholds>;
    tags: string[];
    overrides: Override[];
  };

/** A connection whose SSH server has no stored key yet: the first run stores it. Any session before would believe any server. */
export class UnpinnedTunnel extends Error {
  constructor(connectionId: number) {
    super(
      `The key of the SSH server of connection ${connectionId} is not known yet: run a health check first, which stores it.`,
    );
  }
}

/**
 * Loads what pulses of a connection need, with decrypted secrets; null if it does not exist. Throws as `loadRun` does, and
 * {@link UnpinnedTunnel}; {@link CollectedConnection} if only a collector reaches the server.
 */
export async function loadPulse(
  deps: Pick<MonitorDeps, 'writer' | 'secret' | 'thresholds'>,
  connection: ConnectionKey,
): Promise<LoadedPulse | null> {
  const row = await readPulse(deps, connection);
  if (!row) return null;
  if (row.isCollected) throw new CollectedConnection(connection.connectionId);
  const secrets = await decryptSecrets(deps.writer, deps.secret, row, row);
  const target = toTarget(row, secrets);
  if (target.tunnel?.hostKey === null) throw new UnpinnedTunnel(connection.connectionId);
  return {
    target,
    tokenSource: row.token_source,
    noTokenUntil: Number.NEGATIVE_INFINITY,
    thresholds: await thresholdsNow(deps, connection, row),
  };
}

/** The pulse of a connection that a collector measures. */
export interface CollectedPulse {
  /** Seconds from pulse to pulse. */
  every: number;
  thresholds: PulseThresholds;
}

/** What the collector of a connection needs for its pulses; null if it has none. */
export async function loadCollectedPulse(
  deps: Pick<MonitorDeps, 'writer' | 'thresholds'>,
  connection: ConnectionKey,
): Promise<CollectedPulse | null> {
  const row = await readPulse(deps, connection);
  if (!row?.isCollected || row.pulseSeconds === 0) return null;
  return { every: row.pulseSeconds, thresholds: await thresholdsNow(deps, connection, row) };
}

async function readPulse(
  { writer }: Pick<MonitorDeps, 'writer'>,
  { accountId, connectionId }: ConnectionKey,
): Promise<PulseRow | undefined> {
  return (await writer.query<PulseRow>(select, [accountId, connectionId])).rows[0];
}

async function thresholdsNow(
  deps: Pick<MonitorDeps, 'writer' | 'thresholds'>,
  { accountId, connectionId }: ConnectionKey,
  { name, tags, thresholds, overrides, engine }: PulseRow,
): Promise<PulseThresholds> {
  const rules = await listPulseRules(within(deps.writer), accountId, { id: connectionId, name, tags });
  const changed = { ...thresholdsOfRun(thresholds, tags, overrides), ...deps.thresholds };
  return pulseThresholds(familyOf(engine), changed, rules);
}

/** After a command gave no token, an open session goes on for so long before the next try. */
const NO_TOKEN_MS = 60_000;

/**
 * The settings with the token as the password. They are the same object as long as that is: a child logs in again for another one.
 * Where there is no new token, the last one stays: a session that is open needs none. Throws {@link TokenFailed} without any.
 */
export async function withToken(
  loaded: LoadedPulse,
  commands: NonNullable<MonitorDeps['tokenCommands']>,
): Promise<LoadedPulse> {
  const { target, tokenSource } = loaded;
  if (tokenSource === null || performance.now() < loaded.noTokenUntil) return loaded;
  try {
    const password = await tokenFor(tokenSource, commands, target);
    return password === target.password
      ? loaded
      : { ...loaded, target: { ...target, password, isToken: true } };
  } catch (error) {
    if (target.isToken !== true) throw error;
    return { ...loaded, noTokenUntil: performance.now() + NO_TOKEN_MS };
  }
}

/** The settings after a server refused the token, which is asked for anew. */
export function withoutToken(loaded: LoadedPulse): LoadedPulse {
  const { target, tokenSource } = loaded;
  if (tokenSource === null) return loaded;
  forgetToken(tokenSource, target);
  return { ...loaded, noTokenUntil: Number.NEGATIVE_INFINITY };
}

/** The checks whose thresholds say when a pulse asks for a run. */
const JUDGES: Readonly<Record<EngineFamily, Record<'blocked' | 'saturation', readonly string[]>>> = {
  postgres: { blocked: ['PG_BLOCKED_SESSIONS'], saturation: ['PG_CONN_SATURATION'] },
  mysql: { blocked: ['MY_LOCK_WAITS', 'MY_MDL_WAIT'], saturation: ['MY_CONN_SATURATION'] },
  pgbouncer: { blocked: ['PB_CLIENTS_WAITING'], saturation: ['PB_CLIENT_LIMIT'] },
};

function pulseThresholds(
  family: EngineFamily,
  changed: Readonly<Record<string, Thresholds>>,
  rules: readonly PulseRule[],
): PulseThresholds {
  const lowest = (name: string, ids: readonly string[]) =>
    Math.min(...ids.map((id) => changed[id]?.[name] ?? defaultsOf(id)[name] ?? Number.POSITIVE_INFINITY));
  const { blocked, saturation } = JUDGES[family];
  return {
    blockedSeconds: {
      warning: lowest('warning_seconds', blocked),
      critical: lowest('critical_seconds', blocked),
    },
    connections: { warning: lowest('warning', saturation), critical: lowest('critical', saturation) },
    rules,
  };
}

/** The loaded settings, with the target that is known if nothing in it differs: its session stays open. */
export function sameTarget(before: LoadedPulse, loaded: LoadedPulse): LoadedPulse {
  const { isToken: _, ...target } = before.target;
  const password = loaded.tokenSource === null ? target.password : loaded.target.password;
  return isDeepStrictEqual({ ...target, password }, loaded.target)
    ? { ...loaded, target: before.target }
    : loaded;
}
