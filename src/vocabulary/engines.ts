/** The engines of connections, as stored in `connection.engine` and in the scheme of a URL. */
export const ENGINES = ['postgres', 'mysql', 'mariadb', 'pgbouncer'] as const;

export type Engine = (typeof ENGINES)[number];

/** The names of the engines in text. */
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = {
  postgres: 'PostgreSQL',
  mysql: 'MySQL',
  mariadb: 'MariaDB',
  pgbouncer: 'PgBouncer',
};

/** Engines that run SQL: members write checks for them, and they have queries, tables and locks. */
export const SQL_ENGINES = ENGINES.filter(isSqlEngine);

export type SqlEngine = Exclude<Engine, 'pgbouncer'>;

export function isSqlEngine(engine: Engine): engine is SqlEngine {
  return engine !== 'pgbouncer';
}

/** Engines that have the same checks and speak the same protocol. */
export const ENGINE_FAMILIES = ['postgres', 'mysql', 'pgbouncer'] as const;

export type EngineFamily = (typeof ENGINE_FAMILIES)[number];

export type SqlFamily = Exclude<EngineFamily, 'pgbouncer'>;

/** What the engines of a family have in common. */
interface FamilyTraits {
  /** In text. */
  name: string;
  /** How the ids of its checks begin. */
  checkPrefix: string;
  /** The port by default. */
  port: number;
  /** The database to log in to by default; '' = none. */
  database: string;
  /** A connection may have several hosts, of which the primary is measured. */
  hasStandbys: boolean;
}

export const FAMILY_TRAITS: Readonly<Record<EngineFamily, FamilyTraits>> = {
  postgres: {
    name: 'PostgreSQL',
    checkPrefix: 'PG_',
    port: 5432,
    database: 'postgres',
    hasStandbys: true,
  },
  mysql: {
    name: 'MySQL or MariaDB',
    checkPrefix: 'MY_',
    port: 3306,
    database: '',
    hasStandbys: false,
  },
  pgbouncer: {
    name: 'PgBouncer',
    checkPrefix: 'PB_',
    port: 6432,
    database: 'pgbouncer',
    hasStandbys: false,
  },
};

const FAMILIES: Readonly<Record<Engine, EngineFamily>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql', // the server itself reports which of the two it is
  pgbouncer: 'pgbouncer',
};

/** The family of an engine that runs SQL has one that does. */
export function familyOf(engine: SqlEngine): SqlFamily;
export function familyOf(engine: Engine): EngineFamily;
export function familyOf(engine: Engine): EngineFamily {
  return FAMILIES[engine];
}

/** What an engine has in common with its family. */
export function traitsOf(engine: Engine): FamilyTraits {
  return FAMILY_TRAITS[FAMILIES[engine]];
}

/** The family whose check it is; null for a check of every engine, or of a member. */
export function familyOfCheck(checkId: string): EngineFamily | null {
  return ENGINE_FAMILIES.find((family) => checkId.startsWith(FAMILY_TRAITS[family].checkPrefix)) ?? null;
}

/** Whether a check is one of another family, so servers of this engine never run it. */
export function isForeignCheck(engine: Engine, checkId: string): boolean {
  const family = familyOfCheck(checkId);
  return family !== null && family !== FAMILIES[engine];
}

/** The engine that a URL's scheme names; PostgreSQL has two schemes. */
export function engineOfScheme(scheme: string): Engine {
  return ENGINES.find((engine) => engine === scheme) ?? 'postgres';
}
