import { type Catalogue, catalogues } from '../../checks/catalogue.ts';
import { engineVitals } from '../../vitals/engine-vitals.ts';
import type { EngineVitals } from '../../vitals/vital.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { factsOfMysql, isMysqlPrimary } from './mysql-facts.ts';
import { openMysqlSession } from './mysql-session.ts';
import { factsOfPostgres, isPostgresPrimary } from './postgres-facts.ts';
import { openPostgresSession } from './postgres-session.ts';
import type { Deadline, Route, Session, Target } from './session.ts';

/** What the monitor asks a server at the start of a run. */
export interface RunFacts {
  /** As {@link import('../../checks/check.ts').ServerFacts} has it. */
  version: number;
  /**
   * The databases that need a session each, the target's first. Empty if one session sees all databases of the
   * engine.
   */
  databases: string[];
  /** MySQL: the login as GRANT expects it. */
  me?: string;
}

/** How the servers of an engine are measured. */
export interface EngineParts extends Catalogue {
  vitals: EngineVitals;
  openSession(target: Target, database: string, route: Route, deadline: Deadline): Promise<Session>;
  /** Throws if the server is not a supported one. */
  readFacts(session: Session): Promise<RunFacts>;
  /** Whether the server accepts writes. Of several servers, the monitor measures the primary. */
  isPrimary(session: Session): Promise<boolean>;
}

const mysql = { openSession: openMysqlSession, readFacts: factsOfMysql, isPrimary: isMysqlPrimary };

/** All supported engines. */
export const engines: Readonly<Record<Engine, EngineParts>> = {
  postgres: {
    ...catalogues.postgres,
    vitals: engineVitals.postgres,
    openSession: openPostgresSession,
    readFacts: factsOfPostgres,
    isPrimary: isPostgresPrimary,
  },
  mysql: { ...catalogues.mysql, vitals: engineVitals.mysql, ...mysql },
  mariadb: { ...catalogues.mariadb, vitals: engineVitals.mariadb, ...mysql },
};
