import type { Check, Judgement } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted, duration } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import type { Figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import {
  type Replication,
  replicaPrivilege,
  replicaSettings,
  replicaSql,
  replicationsIn,
  replicaWord,
} from './replica-status.ts';
import { type Server, setForGood } from './setting-check.ts';

/** Seconds beyond the configured delay: 30 s as in mysqld_exporter's rules, 5 min dbvitals' own. */
const thresholds = { warning_seconds: 30, critical_seconds: 300 };

/** Replicas that lag: they return old data, and must catch up before they can take over. */
export const replicaLag: Check<typeof thresholds> = {
  id: 'MY_REPLICA_LAG',
  title: 'Replica lags behind',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  privilege: replicaPrivilege,
  thresholds,
  sql: replicaSql,
  judge: (rows, { version, provider, thresholds: { warning_seconds, critical_seconds } }) => {
    const settings = replicaSettings(rows);
    const replications = replicationsIn(rows, version);
    const known = replications
      .filter(({ behind }) => behind !== null)
      .toSorted((one, other) => lag(other) - lag(one));
    const late = known.filter((one) => lag(one) >= warning_seconds);
    const unknown = replications.length > known.length;
    const [worst] = known;
    const measureOf = (one: Replication): Measure => ({
      metric: 'replication_lag_seconds',
      object: one.object,
      value: lag(one),
      operator: '>=',
      warning: warning_seconds,
      critical: critical_seconds,
    });
    const judgement: Judgement = {
      faults: late.slice(0, FAULT_LIMIT).map((one): Fault => {
        const on_purpose = one.delay > 0 ? ` beyond the configured delay of ${duration(one.delay)}` : '';
        return {
          severity: lag(one) >= critical_seconds ? 'critical' : 'warning',
          object: one.object,
          metricLine: `${one.words} is ${duration(lag(one))} behind${on_purpose}; find out what its SQL thread waits for, and use several applier threads.`,
          remediation: remediation(one, replications, settings, { version, ...(provider && { provider }) }),
          measured: faultMeasure(measureOf(one)),
        };
      }),
      passMessage: worst
        ? `${counted(known.length, 'source')}, at most ${duration(lag(worst))} behind; a silent one is noticed after ${duration(timeout(settings))}.`
        : 'This server is not a replica.',
      measures: worst
        ? [...worstOf(known.map(measureOf)), countOf('lagging_replications_count', late.length)]
        : [],
      near: known
        .filter((one) => !late.includes(one) && lag(one) >= 0.9 * warning_seconds)
        .map(({ object }) => object),
      truncated: unknown || late.length > FAULT_LIMIT,
    };
    if (!unknown || late.length > 0) return judgement;
    return {
      skipped: 'Not measured: replication is stopped, so the server reports no lag.',
    };
  },
};

/** Seconds behind, without the configured delay. */
function lag({ behind, delay, notDue }: Replication): number {
  return notDue ? 0 : Math.max(0, (behind ?? 0) - delay);
}

/** Seconds after which the IO thread gives up on its source or the network. */
function timeout(settings: Figures): number {
  return settings.number(settings.has('replica_net_timeout') ? 'replica_net_timeout' : 'slave_net_timeout');
}

function remediation(
  { statement }: Replication,
  all: readonly Replication[],
  settings: Figures,
  server: Server,
): string {
  const { version } = server;
  const names = ['slave_parallel_threads', 'replica_parallel_workers', 'slave_parallel_workers'];
  const name = names.find((one) => settings.has(one));
  if (name === undefined || settings.number(name) > 1)
    return `SHOW PROCESSLIST; -- the rows of "system user": one may wait for a lock, or scan a table without a primary key for every row`;
  if (server.provider)
    return `${setForGood(server, name, 4)} It takes effect when replication is started again.`;
  const word = replicaWord(version);
  if (!isMariaDb(version))
    return `${statement(`STOP ${word} SQL_THREAD`)} SET PERSIST ${name} = 4; ${statement(`START ${word} SQL_THREAD`)}`;
  // MariaDB has one thread pool for all its connections, and changes it only while none applies. Those that somebody
  // stopped stay so.
  const running = all.filter(({ applier, receiver }) => applier === 'Yes' && receiver !== 'No');
  const start =
    running.length === all.length
      ? 'START ALL SLAVES;'
      : running.map((one) => one.statement(`START ${word}`)).join(' ');
  return `STOP ALL SLAVES; SET GLOBAL ${name} = 4; ${start} -- and ${name} = 4 under [mysqld] in the option file`;
}
