import type { FastifyReply } from 'fastify';
import type { ChangeAccount } from '../../activity/record-entry.ts';
import { catalogues } from '../../checks/catalogue.ts';
import type { Finding } from '../../checks/check.ts';
import { isMariaDb } from '../../checks/mysql/flavour.ts';
import { worstFirst } from '../../checks/score.ts';
import { requireSettingsOf } from '../../connections/connection-settings.ts';
import { changedThresholds } from '../../connections/connection-thresholds.ts';
import { agreedTls, tlsOf } from '../../connections/connection-tls.ts';
import type { Tunnelled } from '../../connections/connection-tunnel.ts';
import type { DatabaseAddress } from '../../connections/connection-url.ts';
import { CredentialError, TamperedConnection } from '../../connections/credentials.ts';
import { requireOrderWithin } from '../../connections/thresholds/require-order.ts';
import { LIMITS } from '../../monitor/limits.ts';
import { type LoadedRun, loadRun } from '../../monitor/load-run.ts';
import { withoutPause } from '../../monitor/measures/paused-login.ts';
import type { Measured } from '../../monitor/nothing-measured.ts';
import type { Tunnel } from '../../monitor/session/ssh-tunnel.ts';
import { measureLoaded } from '../../monitor/tokens/measure-loaded.ts';
import { notFound } from '../../platform/rejection.ts';
import { count } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { serverVersion } from '../../platform/text/server-version.ts';
import { ENGINE_NAMES, familyOf } from '../../vocabulary/engines.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleParts, type ConsoleRoute, consoleRoute } from '../route.ts';
import { makeChange, requireHost } from './change-connections.ts';
import { ConnectionChange, TestedConnection } from './connection-schemas.ts';
import { requireAddress, requireNoSocket, settingsIn, tunnelIn } from './parse-connection.ts';

/** The result of a connection test; nothing is stored. It contains untrusted text of the server: render it as text. */
const ConnectionTest = Type.Object({
  reachable: Type.Boolean(),
  /** Why not, as a sentence. */
  reason: nullable(Type.String()),
  /** What to do about it; null = reachable. */
  remedy: nullable(
    Type.Object({
      advice: Type.String(),
      /** A statement, or a line of pg_hba.conf, that the advice introduces. */
      paste: nullable(Type.String()),
      /** The TLS mode that the server requires. */
      tls: nullable(stringEnum('require')),
    }),
  ),
  /** The TLS version, such as TLSv1.3; null = none, or not reachable. */
  tls: nullable(Type.String()),
  /** Such as `PostgreSQL 18.0` or `MariaDB 11.8.3`; null = not reachable. */
  version: nullable(Type.String()),
  /** How many checks could be measured. */
  measured: count('checks that were measured'),
  /** Checks that could not be measured, each with the reason. */
  skipped: Type.Array(
    Type.Object({
      check_id: Type.String(),
      title: Type.String(),
      reason: Type.String(),
      /** The missing GRANT; null when none applies to this server. */
      grant: nullable(Type.String()),
    }),
  ),
  /** All missing GRANTs, to paste; '' = none. */
  sql: Type.String(),
});

export type ConnectionTest = Static<typeof ConnectionTest>;

/** The longest a test may take. A user waits for it, and a silent connection is closed after 80 s (http/edge/connection-limits.ts). */
const TEST_MS = 60_000;

/** The most tests at the same time in this process: each may hold a child process for two minutes. */
const TESTS = 6;
const tests = new ConcurrencyLimit(
  { ofAll: TESTS, ofAccount: 2 },
  'Too many connection tests are running',
  5,
);

const test = consoleRoute({
  method: 'POST',
  path: '/connections/test',
  permission: 'connections:write',
  body: TestedConnection,
  response: ConnectionTest,
  cost: 10,
  handler: ({ actor, body, parts, reply }) =>
    runTest({ job: jobOf(body, parts), tokenSource: null }, actor.accountId, parts, reply),
});

const testChanged = consoleRoute({
  method: 'POST',
  path: '/connections/:id/test',
  permission: 'connections:write',
  body: ConnectionChange,
  response: ConnectionTest,
  cost: 10,
  async handler({ actor: { accountId }, body, change, id, parts, read, reply }) {
    try {
      const loaded = await loadChanged({ accountId, body, change, id, parts, read });
      return await runTest(loaded, accountId, parts, reply);
    } catch (error) {
      if (!(error instanceof CredentialError || error instanceof TamperedConnection)) throw error;
      return notReached(error.message, { advice: AGAIN, paste: null, tls: null });
    }
  },
});

export const testConnectionRoutes: ConsoleRoute[] = [test, testChanged];

async function runTest(
  loaded: Pick<LoadedRun, 'job' | 'tokenSource'>,
  accountId: number,
  parts: ConsoleParts,
  reply: FastifyReply,
): Promise<ConnectionTest> {
  const giveBack = tests.enter(accountId);
  const left = new AbortController();
  const leave = () => left.abort(new Error('nobody waits for the test any more'));
  reply.raw.once('close', leave);
  try {
    const measured = await measureLoaded(
      loaded,
      parts.tokenCommands,
      AbortSignal.any([parts.closing, left.signal]),
    );
    return shown(loaded.job.target.engine, measured);
  } finally {
    reply.raw.off('close', leave);
    giveBack();
  }
}

/** Rolls a change back and carries what was loaded inside it. */
class Undone extends Error {
  readonly loaded: LoadedRun;
  constructor(loaded: LoadedRun) {
    super('a change that is only tested is undone');
    this.loaded = loaded;
  }
}

/**
 * Loads the run of a connection as it would be after a change, by making the change and rolling it back. So a test is
 * rejected where the change would be: it can't send the stored password or key to another target.
 */
async function loadChanged(asked: Parameters<typeof makeChange>[0]): Promise<LoadedRun> {
  const { accountId, change, id, parts } = asked;
  const { secret, allowPrivateTargets } = parts;
  const limits = { ...LIMITS, runMs: TEST_MS };
  const undone: ChangeAccount = (work) =>
    change(async (within) => {
      await work(within);
      const deps = { writer: within.client, secret, allowPrivateTargets, limits };
      const loaded = await loadRun(deps, { accountId, connectionId: id });
      if (!loaded) throw notFound();
      const { before = [] } = loaded.job.instructions;
      loaded.job.instructions.before = withoutPause(before);
      throw new Undone(loaded);
    });
  try {
    await makeChange({ ...asked, change: undone });
  } catch (error) {
    if (error instanceof Undone) return error.loaded;
    throw error;
  }
  throw new Error('a change that is only tested was made');
}

function jobOf(body: Static<typeof TestedConnection>, parts: ConsoleParts) {
  const address = requireAddress(body);
  requireNoSocket(body, address, parts);
  const { connection_type, engine, host, port, database, username, password } = address;
  const { allowPrivateTargets } = parts;
  const settings = settingsIn(body);
  requireSettingsOf(engine, settings);
  const { thresholds = {}, expectedStandbys = 0, passwordExposable = false, caCertificate = null } = settings;
  requireOrderWithin(thresholds);
  const tunnel = tunnelOf(tunnelIn(body, false));
  if (tunnel) requireHost(connection_type);
  return {
    target: {
      engine,
      host,
      port,
      database,
      username,
      password,
      passwordExposable,
      caCertificate,
      tunnel,
      connectionType: tunnel ? ('ssh_tunnel' as const) : connection_type,
      tls: tlsOf(connection_type, agreedTls(body.tls, address.tls)),
    },
    instructions: {
      allowPrivateTargets,
      thresholds: changedThresholds({}, thresholds),
      expectedStandbys,
      limits: { ...LIMITS, runMs: TEST_MS },
    },
  };
}

function tunnelOf({ ssh, sshKey }: Tunnelled): Tunnel | null {
  return ssh ? { ...ssh, privateKey: sshKey ?? null, agentSocket: null, hostKey: null } : null;
}

function shown(
  engine: DatabaseAddress['engine'],
  { outcomes, server, failure: attempt }: Measured,
): ConnectionTest {
  const findings = worstFirst(outcomes);
  if (!server) {
    const [failure] = findings.filter(({ status }) => status === 'critical');
    const reason = failure?.metric_line ?? 'The database could not be checked.';
    const { advice = failure?.remediation ?? '', paste = null, tls = null } = attempt ?? {};
    return notReached(reason, { advice: advice.replaceAll(OPTIONS, ''), paste, tls });
  }
  const quiet = findings.filter(({ status }) => status === 'skipped' || status === 'error');
  const id = catalogues[engine].privilegeMissing?.id;
  return {
    reachable: true,
    reason: null,
    remedy: null,
    tls: server.tls,
    version: versionText(engine, server.version),
    measured: outcomes.length - quiet.length,
    skipped: quiet.map(skippedOf),
    sql: findings.find((finding) => finding.check_id === id)?.remediation ?? '',
  };
}

/** Options of the command line in an advice: the console has fields instead. */
const OPTIONS = / \(--[^)]*\)/g;

const AGAIN = 'Enter the address and the password again.';

function notReached(reason: string, remedy: ConnectionTest['remedy']): ConnectionTest {
  const nothing = { tls: null, version: null, measured: 0, skipped: [], sql: '' };
  return { reachable: false, reason, remedy, ...nothing };
}

function skippedOf({
  check_id,
  title,
  metric_line,
  missing_grant,
}: Finding): ConnectionTest['skipped'][number] {
  return { check_id, title, reason: metric_line, grant: missing_grant ?? null };
}

/** `PostgreSQL 18.1`, `MySQL 8.0.36`, `MariaDB 10.11.6`. */
function versionText(asked: DatabaseAddress['engine'], version: number): string {
  const flavour = isMariaDb(version) ? 'mariadb' : 'mysql';
  const engine = familyOf(asked) === 'mysql' ? flavour : asked;
  return `${ENGINE_NAMES[engine]} ${serverVersion(engine, version)}`;
}
