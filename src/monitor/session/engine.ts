import { type Catalogue, catalogues } from '../../checks/catalogue.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { factsOfMysql, isMysqlPrimary } from './mysql-facts.ts';
import { openMysqlSession } from './mysql-session.ts';
import { factsOfPostgres, isPostgresPrimary } from './postgres-facts.ts';
import { openPostgresSession } from './postgres-session.ts';
import type { Deadline, Route, Session, Target } from './session.ts';

/** What a server tells about itself at the start of a run. */
export interface RunFacts {
  /** As {@link import('../../checks/check.ts').ServerFacts} has it. */
  version: number;
  /** The databases that need a session each, that of the target first; none of an engine whose session sees them all. */
  databases: string[];
  /** MySQL: the login as GRANT wants it. */
  me?: string;
}

/** How servers of an engine are measured. */
export interface EngineParts extends Catalogue {
  openSession(target: Target, database: string, route: Route, deadline: Deadline): Promise<Session>;
  /** Throws where the server is none that we know. */
  readFacts(session: Session): Promise<RunFacts>;
  /** Whether it may be written to; of several servers such a one is measured. */
  isPrimary(session: Session): Promise<boolean>;
}

const mysql = { openSession: openMysqlSession, readFacts: factsOfMysql, isPrimary: isMysqlPrimary };

/** All engines that are watched. */
export const engines: Readonly<Record<Engine, EngineParts>> = {
  postgres: {
    ...catalogues.postgres,
    openSession: openPostgresSession,
    readFacts: factsOfPostgres,
    isPrimary: isPostgresPrimary,
  },
  mysql: { ...catalogues.mysql, ...mysql },
  mariadb: { ...catalogues.mariadb, ...mysql },
};
