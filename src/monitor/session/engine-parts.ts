import type { Catalogue } from '../../checks/engine-catalogue.ts';
import type { EngineVitals } from '../../checks/vitals/vital.ts';
import type { Provider } from '../../vocabulary/hosted/providers.ts';
import type { Deadline, OpenedSession, Route, Session, Target } from './session.ts';

/** What the monitor asks a server at the start of a run. */
export interface RunFacts {
  /** As {@link import('../../checks/check.ts').ServerFacts} has it. */
  version: number;
  /**
   * The databases that need a session each, the target's first. Empty if one session sees all databases of the
   * engine.
   */
  databases: string[];
  /**
   * Databases that exist, but that no session is opened to: the login may not connect, or the server lets nobody. Of MySQL: schemas
   * that are hidden from the login, in backticks.
   */
  leftOut?: string[];
  /** PostgreSQL: those whose catalogue is locked, so that each login waits, and goes on waiting when its client has left. */
  lockedDatabases?: string[];
  /** The login as GRANT expects it. */
  me?: string;
  /** Whether the server copies another one, and accepts no writes. */
  isStandby?: boolean;
  /** Who hosts the server; null = nobody that dbvitals recognises. */
  provider: Provider | null;
}

/** How the servers of an engine are measured. */
export interface EngineParts extends Catalogue {
  vitals: EngineVitals;
  openSession(target: Target, database: string, route: Route, deadline: Deadline): Promise<OpenedSession>;
  /** Throws if the server is not a supported one. */
  readFacts(session: Session): Promise<RunFacts>;
  /** Whether the server accepts writes. Of several servers, the monitor measures the primary. */
  isPrimary(session: Session): Promise<boolean>;
}
