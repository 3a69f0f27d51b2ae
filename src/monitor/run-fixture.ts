import { type Logger, pino } from 'pino';
import type { TestStore } from '../../test/support/store.ts';
import { endIdleChildren, measureInChild } from './children/measure-in-child.ts';
import type { Job } from './children/measure-worker.ts';
import { LIMITS } from './limits.ts';
import { runHealthCheck } from './run.ts';
import { type NoteStep, stepsOf } from './run-steps.ts';
import type { StoredCheck } from './store-run.ts';

/** The account and the number of a connection. */
export type Key = Awaited<ReturnType<TestStore['watched']>>;

/** Runs with a separate log at a level; returns its lines as written and parsed. */
export async function logged(level: string, work: (log: Logger) => Promise<unknown>) {
  const lines: string[] = [];
  await work(pino({ level, base: null }, { write: (line) => lines.push(line) }));
  return { text: lines.join(''), steps: lines.map((line) => JSON.parse(line)).filter(({ step }) => step) };
}

/** Tickets of faults that these tests provoke; other tickets are about the test server's settings. */
export async function ticketsOf(
  store: TestStore,
  { accountId }: Key,
): Promise<{ check_id: string; status: string }[]> {
  const text = `
    select check_id, status from ticket
     where account_id = $1 and (check_id like 'CONN_%' or check_id = 'PG_NO_PRIMARY_KEY')
     order by ticket_id`;
  return (await store.writer.query(text, [accountId])).rows;
}

/** The entries of the connection's account. */
export async function entriesOf(
  store: TestStore,
  { accountId }: Key,
): Promise<{ action_type: string; properties: unknown }[]> {
  const text = `select action_type, page_path, properties from activity where account_id = $1 order by id`;
  return (await store.writer.query(text, [accountId])).rows;
}

/** The settings of a direct connection to a server of this machine. */
export const direct = (port: number) => ({
  connection_type: 'direct',
  host: '127.0.0.1',
  port,
  tls: 'disable',
});
/** The status of the check in a run. */
export const statusOf = (stored: StoredCheck, id: string) =>
  stored.checks.find(({ check_id }) => check_id === id)?.status;

/** The check, the line and the remediation of a run's first finding. */
export const adviceOf = ({ checks: [first] }: StoredCheck) =>
  `${first?.check_id} ${first?.metric_line} ${first?.remediation}`;

/** A password that no log may show. */
export const secret = 'a secret word';
/** A target at which nothing listens. */
export const target: Job['target'] = {
  engine: 'postgres',
  connectionType: 'direct',
  host: '127.0.0.1',
  port: 1,
  database: 'a',
  username: 'a',
  password: secret,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
};
export const instructions = { allowPrivateTargets: true, thresholds: {} };
/** The log at debug of a process that measures and crashes. */
export const crashes = (job: Job) => {
  const { signal } = new AbortController();
  endIdleChildren(); // one that was started without the log at debug keeps no output
  return logged('debug', async (log) => {
    const note = stepsOf(log, { accountId: 1, connectionId: 1 });
    const crashed = new Promise<void>((resolve) => {
      const noted: NoteStep = (step, facts) => {
        note?.(step, facts);
        if (step === 'crash') resolve();
      };
      void measureInChild(job, signal, { note: noted });
    });
    await crashed;
  });
};

/** Small tables without a key count here: they are faults that tests provoke with one statement. */
const thresholds = { PG_NO_PRIMARY_KEY: { minimum_rows: 0 } };

/** A run that does not wait a second before each retry. */
export async function runOnce(
  store: TestStore,
  key: Key,
  limits = { ...LIMITS, betweenTriesMs: 50 },
): Promise<StoredCheck> {
  const stored = await runHealthCheck({ ...store.deps, limits, thresholds }, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

/** Hosts that no connection reaches, and whether private targets are allowed. */
export const NEVER_CONTACTED: [string, boolean][] = [
  ['169.254.169.254', true],
  ['::ffff:169.254.169.254', true],
  ['fe80::1', true],
  ['fd00:ec2::254', true],
  ['127.0.0.1', false],
  ['localhost', false],
  ['10.1.2.3', false],
  ['::1', false],
];
