import type { Severity } from '../../../vocabulary/severities.ts';
import { LARGEST_INT, numberUsed, type SampleFault } from './sample-faults.ts';

const MAX_CONNECTIONS = 151; // MySQL's default

/** The faults of MySQL to pick from. The name of the object includes the database. */
export const SAMPLE_MYSQL_FAULTS: readonly SampleFault[] = [
  {
    checkId: 'MY_NO_PRIMARY_KEY',
    severities: ['warning'],
    database: '',
    object: (table) => `\`app\`.\`${table}\``,
    metricLine: (table) =>
      `table \`app\`.\`${table}\` (212 MB) has no primary key, and no unique key over NOT NULL columns: a replica reads the whole table for each changed row; add one.`,
    remediation: (table) =>
      `ALTER TABLE \`app\`.\`${table}\` ADD COLUMN \`id\` bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY;`,
  },
  {
    checkId: 'MY_REDUNDANT_INDEX',
    severities: ['info'],
    database: '',
    object: (table) => `\`app\`.\`${table}\`.\`customer_id\``,
    metricLine: (table) =>
      `index \`customer_id\` of table \`app\`.\`${table}\` (all its secondary indexes: 38 MB) is covered by \`customer_id_created_at\`, which begins with its columns; keep \`customer_id_created_at\`, drop \`customer_id\`.`,
    remediation: (table) => `ALTER TABLE \`app\`.\`${table}\` DROP INDEX \`customer_id\`;`,
  },
  {
    checkId: 'MY_NON_INNODB',
    severities: ['warning'],
    database: '',
    object: (table) => `\`app\`.\`${table}_archive\``,
    metricLine: (table) =>
      `table \`app\`.\`${table}_archive\` uses the engine MyISAM, which has no transactions; convert it to InnoDB.`,
    remediation: (table) => `ALTER TABLE \`app\`.\`${table}_archive\` ENGINE = InnoDB, ROW_FORMAT = DYNAMIC;`,
  },
  {
    checkId: 'MY_AUTOINC_EXHAUSTION',
    severities: ['warning', 'critical', 'critical'],
    database: '',
    object: (table) => `\`app\`.\`${table}\``,
    metricLine: (table, n, severity) => {
      const share = severity === 'critical' ? 95 + (n % 5) : 85 + (n % 10);
      const value = numberUsed(n, severity).toLocaleString('en-US');
      return `AUTO_INCREMENT of table \`app\`.\`${table}\` is at ${value}, ${share} % of the maximum of its column \`id\` (int); widen it before inserts fail.`;
    },
    measured: {
      metric: 'auto_increment_used_ratio',
      warning: 0.85,
      critical: 0.95,
      limit: 1,
      grows: true,
      value: (n, severity) => numberUsed(n, severity) / LARGEST_INT,
    },
    remediation: (table) => `ALTER TABLE \`app\`.\`${table}\` MODIFY \`id\` bigint NOT NULL AUTO_INCREMENT;`,
  },
  {
    checkId: 'MY_LONG_TRX',
    severities: ['warning'],
    database: '',
    object: (table) => `app/${table}_export`,
    metricLine: (table, n) =>
      `User ${table}_export, database app: 1 transaction open, the oldest for ${1 + (n % 3)} h ${n % 60} min; commit it or end it.`,
    measured: {
      metric: 'longest_transaction_seconds',
      warning: 3_600,
      critical: null,
      value: (n) => (1 + (n % 3)) * 3_600 + (n % 60) * 60,
    },
    remediation: (table) =>
      `SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE user = '${table}_export' AND db = 'app'; -- run what it prints`,
  },
  {
    checkId: 'MY_CONN_SATURATION',
    severities: ['warning', 'critical', 'critical'],
    database: '',
    object: () => null,
    measured: {
      metric: 'connections_used_ratio',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      value: (n, severity) => connectionsUsed(n, severity) / MAX_CONNECTIONS,
    },
    metricLine: (_, n, severity) => {
      const used = connectionsUsed(n, severity);
      return `${used} of ${MAX_CONNECTIONS} connections are in use (${Math.floor((100 * used) / MAX_CONNECTIONS)} %); put a pooler in front, or raise max_connections.`;
    },
    remediation: () => 'SET PERSIST max_connections = 302;',
  },
];

function connectionsUsed(n: number, severity: Severity): number {
  return severity === 'critical' ? 144 + (n % 8) : 121 + (n % 22);
}
