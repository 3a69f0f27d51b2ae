import type { Row } from '../../checks/fault.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import { listedVitals } from '../../checks/vitals/engine-vitals.ts';
import type { EngineVitals, VitalReading, VitalValue } from '../../checks/vitals/vital.ts';
import { type CounterBefore, type CounterSample, cleanRows } from '../counters.ts';
import { msSince, type NoteStep } from '../run-steps.ts';
import type { RunFacts } from '../session/engine-parts.ts';
import { causeOf, isTimeout, refusalOf } from '../session/failures/connect-failure.ts';
import { exactPrivilege } from '../session/failures/exact-privilege.ts';
import { NoAnswer, type Session } from '../session/session.ts';
import { grantFor } from './failed-sample.ts';

/** Once an hour, less what a run may come early. */
const HOUR_SECONDS = 3_590;

/** Sizes of relations are read in so many databases at most. */
const DATABASES = 100;

/** After so many timeouts nothing more is read: a server that is too slow is not made slower. */
const TIMEOUTS = 3;

/** What reading vitals needs of a run. */
interface VitalRun {
  engine: { vitals: EngineVitals };
  before: CounterBefore[];
  began: number;
  counters: CounterSample[];
  note: NoteStep | undefined;
  /** Whether the run ended, so that nothing more is asked of the server. */
  ended: () => boolean;
}

/** Vitals that were left out because the login lacks a privilege. */
export interface DeniedVitals {
  /** In the middle of a sentence. */
  what: string;
  database: string;
  grant: string;
}

type Server = Pick<RunFacts, 'version' | 'provider' | 'me'>;

/** The vitals of a run. */
export class Vitals {
  /** What the login may not read: {@link import('./missing-privileges.ts').missingPrivileges} says so. */
  readonly denied: DeniedVitals[] = [];
  readonly #run: VitalRun;
  readonly #values: VitalValue[] = [];
  #databases = 0;
  #timeouts = 0;

  constructor(run: VitalRun) {
    this.#run = run;
  }

  /**
   * Reads the vitals of the server, or of a database. Never throws: a vital that can't be read is left out, because
   * its privilege is missing or the server is too slow, and nothing else of the run depends on it. See {@link denied}.
   */
  async read(
    session: Session,
    scope: VitalReading['scope'],
    { database, ...server }: Server & { database: string },
  ): Promise<void> {
    if (scope === 'database' && ++this.#databases > DATABASES) return;
    const place = scope === 'server' ? '' : database;
    for (const reading of this.#run.engine.vitals.readings.filter((each) => each.scope === scope)) {
      const values = await this.#valuesOf(reading, session, server, place);
      this.#values.push(...values.map((value) => ({ ...value, database: value.database || place })));
    }
  }

  async #valuesOf(
    reading: VitalReading,
    session: Session,
    server: Server,
    database: string,
  ): Promise<VitalValue[]> {
    const { began, counters, note, ended } = this.#run;
    const { version, provider, me } = server;
    const { id: checkId } = reading;
    const before = this.#before(reading, database);
    if (reading.hourly && before && before.seconds < HOUR_SECONDS) {
      return reading.values(before.rows, { version });
    }
    if (ended() || this.#timeouts >= TIMEOUTS) return [];
    const started = performance.now();
    const keep = (rows: Row[]) =>
      counters.push({ checkId, database, after: (Date.now() - began) / 1_000, rows: cleanRows(rows) });
    try {
      const rows: Row[] = [];
      for (const statement of reading.sql(version, provider)) {
        rows.push(...(await session.read(statement)));
      }
      if (reading.isHidden?.(rows) && reading.privilege && me !== undefined) {
        const grants = [reading.privilege(version)].flat().map((what) => `GRANT ${what} TO ${me};`);
        this.denied.push({ what: reading.what, database, grant: grants.join(' ') });
      }
      const kept = reading.kept(rows);
      const values = reading.values(reading.hourly ? kept : rows, { version, ...(before && { before }) });
      if (kept.length > 0 || reading.hourly) keep(kept);
      note?.('vitals', { check_id: checkId, database, ms: msSince(started), values: values.length });
      return values;
    } catch (error) {
      if (error instanceof NoAnswer || refusalOf(error) === 'timeout') this.#timeouts++;
      const exact = await exactPrivilege(error, (statement) => session.read(statement));
      const grant = grantFor({ ...reading, ...server }, error, exact);
      if (grant !== null) this.denied.push({ what: reading.what, database, grant });
      // What is read once an hour is not tried again before, unless the session's time was over, or it was denied: each run says so.
      if (reading.hourly && !isTimeout(error) && grant === null) keep([]);
      const reason = causeOf(error, 300);
      note?.('vitals', { check_id: checkId, database, ms: msSince(started), failure: reason });
      return [];
    }
  }

  #before({ id }: VitalReading, database: string): { rows: Row[]; seconds: number } | undefined {
    const { before, began } = this.#run;
    const last = before.find((each) => each.checkId === id && each.database === database);
    return last && { rows: last.rows, seconds: last.seconds + (Date.now() - began) / 1_000 };
  }

  /** What was read, as series. */
  measures(): SeriesValue[] {
    const { vitals } = this.#run.engine;
    const growing = new Set(vitals.vitals.filter(({ grows }) => grows).map(({ metric }) => metric));
    return listedVitals(vitals, this.#values).map(({ metric, value, database = '', object = null }) => ({
      checkId: '',
      metric,
      database,
      object,
      value,
      operator: null,
      warning: null,
      critical: null,
      ...(growing.has(metric) && { grows: true }),
    }));
  }
}
