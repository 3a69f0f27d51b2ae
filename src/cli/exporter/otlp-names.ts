import { type Engine, type EngineFamily, familyOf } from '../../vocabulary/engines.ts';
import { type Unit, unitOf } from '../../vocabulary/units.ts';
import type { WrittenMeasure } from './write-measures.ts';

/** A metric as OpenTelemetry names it, and the attributes that are a part of its name. */
export interface OtlpName {
  readonly name: string;
  /** In UCUM. */
  readonly unit: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** `db.system.name` of the semantic conventions. */
export const DB_SYSTEMS: Readonly<Record<Engine, string>> = {
  postgres: 'postgresql',
  mysql: 'mysql',
  mariadb: 'mariadb',
  pgbouncer: 'postgresql',
};

/** The units in UCUM (https://ucum.org). */
const UCUM: Readonly<Record<Unit, string>> = {
  bytes_per_second: 'By/s',
  per_second: '1/s',
  ratio: '1',
  bytes: 'By',
  seconds: 's',
  count: '1',
};

type Names = Readonly<Record<string, Omit<OtlpName, 'attributes'> & Partial<Pick<OtlpName, 'attributes'>>>>;

const CONNECTION_COUNT = { name: 'db.client.connection.count', unit: '{connection}' };
const MYSQL_SIZE = { name: 'mysql.table.size', unit: 'By' };

/**
 * The vitals that a convention means too, with the same unit: `db.client.connection.count` is of the semantic conventions of database
 * clients, the others are those of the OpenTelemetry collector's receivers. What these count since the server's start, such as
 * `postgresql.commits`, the vitals have per second, so it keeps its own name.
 */
const POSTGRES: Names = {
  connections_count: { name: 'postgresql.backends', unit: '1' },
  active_connections_count: { ...CONNECTION_COUNT, attributes: { 'db.client.connection.state': 'used' } },
  idle_connections_count: { ...CONNECTION_COUNT, attributes: { 'db.client.connection.state': 'idle' } },
  database_bytes: { name: 'postgresql.db_size', unit: 'By' },
  table_bytes: { name: 'postgresql.table.size', unit: 'By' },
  index_bytes: { name: 'postgresql.index.size', unit: 'By' },
  replication_lag_bytes: { name: 'postgresql.replication.data_delay', unit: 'By' },
};
const MYSQL: Names = {
  connections_count: { name: 'mysql.threads', unit: '1', attributes: { kind: 'connected' } },
  active_connections_count: { name: 'mysql.threads', unit: '1', attributes: { kind: 'running' } },
  table_bytes: { ...MYSQL_SIZE, attributes: { kind: 'data' } },
  index_bytes: { ...MYSQL_SIZE, attributes: { kind: 'index' } },
  replication_lag_seconds: { name: 'mysql.replica.time_behind_source', unit: 's' },
};

const NAMES: Readonly<Record<EngineFamily, Names>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  pgbouncer: {},
};

/** The name of a value. A check's own value keeps its name, because it may mean less than the vital of that name. */
export function otlpName(
  { check_id, metric }: Pick<WrittenMeasure, 'check_id' | 'metric'>,
  engine: Engine,
): OtlpName {
  const names = NAMES[familyOf(engine)];
  const known = check_id === '' && Object.hasOwn(names, metric) ? names[metric] : undefined;
  return { attributes: {}, ...(known ?? { name: `dbvitals.${metric}`, unit: UCUM[unitOf(metric)] }) };
}
