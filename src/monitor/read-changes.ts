import { createHash } from 'node:crypto';
import type { Endpoint } from '../platform/network/address.ts';
import { cleanText } from '../platform/text/clean-text.ts';
import type { Ask, Fact, FactInstructions, Reading, ReportedReading } from '../runs/changes/facts.ts';
import { readMysqlSchema } from '../runs/changes/mysql-schema.ts';
import { readMysqlServer } from '../runs/changes/mysql-state.ts';
import { readPgbouncerServer } from '../runs/changes/pgbouncer-state.ts';
import { readPostgresSchema } from '../runs/changes/postgres-schema.ts';
import { readPostgresDatabase, readPostgresServer } from '../runs/changes/postgres-state.ts';
import { keyId, type Redact, redactor } from '../runs/changes/redact.ts';
import { SCHEMA_LIMITS, skippedSchema } from '../runs/changes/schema-limits.ts';
import { familyOf } from '../vocabulary/engines.ts';
import type { RunFacts } from './session/engine-parts.ts';
import { isTimeout, refusalOf } from './session/failures/connect-failure.ts';
import { NoAnswer, type Session, type Target } from './session/session.ts';

// Bounds for what a hostile server sends.
const NAME = 200;
const SETTING = 4_000;
const DEFINITION = 1_000;
const LONGEST = 1_000_000;
const LONGEST_SCHEMA = 8_000_000;
const FACTS = 5_000;
const KNOWN = 1_000;
const DATABASES = 300;
const SCHEMAS = 100;

// Runs of an hour's interval are never exactly an hour apart.
const SCHEMA_AGE_S = 3_300;

/** Reads what may have changed of a server, in the sessions of a run, and reports what differs from the previous run. */
export class ChangeReader {
  readonly reported: ReportedReading[] = [];
  readonly #target: Target;
  readonly #given: FactInstructions | null;
  readonly #key: Buffer;
  readonly #redact: Redact;
  readonly #hasEnded: () => boolean;
  #databases = 0;
  #schemas = 0;
  #isOver = false;

  /** Whether nothing more is read, so what is missing says nothing about the server. */
  get #isDone(): boolean {
    return this.#isOver || this.#hasEnded();
  }

  /** Reads nothing without instructions, nor after the run `hasEnded`. */
  constructor(target: Target, given: FactInstructions | null, hasEnded: () => boolean) {
    this.#hasEnded = hasEnded;
    this.#target = target;
    this.#given = given;
    this.#key = Buffer.from(given?.key ?? '', 'base64');
    this.#redact = redactor(this.#key);
  }

  /** Reads the facts of the whole server. Never throws. */
  async readServer(
    session: Session,
    {
      version,
      me = '',
      provider = null,
    }: Pick<RunFacts, 'version' | 'me'> & Partial<Pick<RunFacts, 'provider'>>,
    { host, port }: Endpoint,
  ): Promise<void> {
    if (!this.#given) return;
    const ask = this.#asking(session);
    switch (familyOf(this.#target.engine)) {
      case 'postgres': {
        const place = this.#target.host.includes(',') ? `${host}:${port}` : '';
        this.#report(await readPostgresServer(ask, this.#redact, this.#key, place, provider));
        return;
      }
      case 'mysql': {
        const { started } = this.#given;
        this.#report(await readMysqlServer(ask, this.#redact, { version, me, started }));
        if (!this.#isSchemaDue('')) return;
        this.#reportSchema(await readMysqlSchema(ask, this.#redact, { version, me }));
        return;
      }
      case 'pgbouncer':
        this.#report(await readPgbouncerServer(ask, this.#redact));
    }
  }

  /** Reads the facts of the session's database, of PostgreSQL. Never throws. */
  async readDatabase(session: Session, database: string): Promise<void> {
    if (!this.#given || this.#databases >= DATABASES) return;
    this.#databases++;
    const ask = this.#asking(session);
    this.#report(await readPostgresDatabase(ask, database));
    if (!this.#isSchemaDue(database)) return;
    this.#reportSchema(await readPostgresSchema(ask, this.#redact, database));
  }

  #isSchemaDue(database: string): boolean {
    const name = cleanText(database, NAME);
    const last = this.#given?.known.find((one) => one.kind === 'schema_skipped' && one.database === name);
    return !this.#isDone && (last?.age ?? SCHEMA_AGE_S) >= SCHEMA_AGE_S && this.#schemas++ < SCHEMAS;
  }

  /** A session that is too slow, or lost, is asked nothing more; what a schema may take is limited by its own statement. */
  #asking(session: Session): Ask {
    return async (statement) => {
      if (this.#isDone) return null;
      const began = performance.now();
      try {
        return await session.read(statement);
      } catch (error) {
        const isSlow = refusalOf(error) === 'timeout' && performance.now() - began > 2_000;
        this.#isOver ||= isSlow || isTimeout(error) || error instanceof NoAnswer;
        return null;
      }
    };
  }

  /** A schema that was not read because the session was lost, or the run ended, is read by the next run. */
  #reportSchema(readings: Reading[]): void {
    if (!this.#isDone) this.#report(readings);
  }

  #report(readings: Reading[]): void {
    for (const reading of readings) {
      const known = this.#given?.known ?? [];
      const { kind } = reading;
      const database = cleanText(reading.database, NAME);
      const before = known.find((one) => one.kind === kind && one.database === database);
      if (!before && known.length >= KNOWN) continue;
      const most = kind === 'schema' ? SCHEMA_LIMITS.facts : FACTS;
      const facts = reading.facts
        .slice(0, most)
        .map(cleanFact)
        .sort(([, one], [, other]) => (one < other ? -1 : 1));
      const stored = { basis: `${keyId(this.#key)} ${cleanText(reading.basis ?? '', SETTING)}`, facts };
      const text = JSON.stringify(stored);
      if (text.length > (kind === 'schema' ? LONGEST_SCHEMA : LONGEST)) {
        if (kind !== 'schema') continue;
        this.#report(skippedSchema(reading.database, 'it is larger than 4 MB'));
        return;
      }
      const digest = createHash('sha256').update(text).digest('base64');
      this.reported.push({ kind, database, digest, ...(before?.digest !== digest && { stored }) });
    }
  }
}

function cleanFact([kind, subject, value, more = {}]: Fact): Fact {
  const length = kind === 'setting' ? SETTING : DEFINITION;
  const { source, database, of } = more;
  const details = {
    ...(source && { source: cleanText(source, NAME) }),
    ...(database && { database: cleanText(database, NAME) }),
    ...(of !== undefined && { of: cleanText(of, NAME) }),
  };
  return [kind, cleanText(subject, NAME), cleanText(value, length), details];
}
