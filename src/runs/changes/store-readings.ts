import type pg from 'pg';
import type { NewChange } from './connection-change.ts';
import type { Fact, ReadingKind, ReportedReading, StoredFacts } from './facts.ts';
import { limitChanges } from './store-changes.ts';

/** The most changes that are listed of one run. */
const LISTED = 1_000;

/** What a run changes of what the store knows about a server. */
export interface PreparedReadings {
  changes: NewChange[];
  /** The readings that differ from those in the store. */
  differing: ReportedReading[];
  /** The others that were read a while ago. */
  same: { kind: ReadingKind; database: string }[];
}

interface Key {
  accountId: number;
  connectionId: number;
}

const previous = `
  select kind, database, facts
    from fact_snapshot
    join unnest($3::text[], $4::text[]) as r (kind, database) using (kind, database)
   where account_id = $1 and connection_id = $2`;

const stale = `
  select kind, database
    from fact_snapshot
    join unnest($3::text[], $4::text[]) as r (kind, database) using (kind, database)
   where account_id = $1 and connection_id = $2
     and (kind like 'schema%' or read_at < now() - interval '1 day')`;

/** Compares the readings of a run with those in the store. The first reading of anything is no change. */
export async function prepareReadings(
  writer: pg.Pool,
  { accountId, connectionId }: Key,
  readings: readonly ReportedReading[],
): Promise<PreparedReadings> {
  if (readings.length === 0) return { changes: [], differing: [], same: [] };
  const rowsOf = async <Row extends pg.QueryResultRow>(
    statement: string,
    some: readonly ReportedReading[],
  ) => {
    const names = [some.map(({ kind }) => kind), some.map(({ database }) => database)];
    return (await writer.query<Row>(statement, [accountId, connectionId, ...names])).rows;
  };
  const differing = readings.filter(({ stored }) => stored !== undefined);
  const others = readings.filter(({ stored }) => stored === undefined);
  const before = differing.length === 0 ? [] : await rowsOf<Before>(previous, differing);
  const same = others.length === 0 ? [] : await rowsOf<PreparedReadings['same'][number]>(stale, others);
  const changes = differing.flatMap(({ kind, database, stored }) => {
    const known = before.find((row) => row.kind === kind && row.database === database)?.facts;
    const was = known ?? (kind === 'schema_skipped' && stored ? { ...stored, facts: [] } : null);
    if (!was || !stored) return [];
    return limitChanges(compareReadings({ kind, database }, was, stored), NAMES[kind], database);
  });
  return { changes: limitChanges(changes, 'all', '', LISTED), differing, same };
}

interface Before {
  kind: ReadingKind;
  database: string;
  facts: StoredFacts;
}

const NAMES: Readonly<Record<ReadingKind, string>> = {
  setting: 'settings',
  role_setting: 'settings of roles and databases',
  server: 'server',
  extension: 'extensions',
  standby: 'standbys',
  schema: 'schema',
  schema_skipped: 'schema',
};

// A snapshot and the changes that led to it are one: without both, the next run finds them again.
const store = `
  with change as (
    insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
    select $1, $2, $3::timestamptz, kind, database, subject, before, after, source
      from jsonb_to_recordset($4::jsonb)
        as c (kind text, database text, subject text, before text, after text, source text)
  ), seen as (
    update fact_snapshot s set read_at = $3::timestamptz
      from unnest($6::text[], $7::text[]) as r (kind, database)
     where s.account_id = $1 and s.connection_id = $2 and s.kind = r.kind and s.database = r.database
  )
  insert into fact_snapshot (account_id, connection_id, kind, database, read_at, digest, facts)
  select $1, $2, kind, database, $3::timestamptz, digest, stored
    from jsonb_to_recordset($5::jsonb) as r (kind text, database text, digest text, stored jsonb)
  on conflict (account_id, connection_id, kind, database)
  do update set read_at = excluded.read_at, digest = excluded.digest, facts = excluded.facts`;

/**
 * Stores the changes of a run and what it read, in one statement and only if there is something. A large schema takes
 * long, so it is stored after the run's transaction, which holds the account's log.
 */
export async function storeReadings(
  writer: pg.Pool,
  { accountId, connectionId }: Key,
  at: string,
  { changes, differing, same }: PreparedReadings,
): Promise<void> {
  if (differing.length === 0 && same.length === 0) return;
  const names = [same.map(({ kind }) => kind), same.map(({ database }) => database)];
  const values = [JSON.stringify(changes), JSON.stringify(differing)];
  await writer.query(store, [accountId, connectionId, at, ...values, ...names]);
}

const TEXT = 200;
const DEFINITION = 1_000;

/** What a reading and the one before have in common. */
interface Place {
  kind: ReadingKind;
  database: string;
}

/**
 * What changed between two readings. Nothing if the login could see other things than before. A table that comes or goes
 * is one change, with all that belongs to it.
 */
export function compareReadings(place: Place, before: StoredFacts, after: StoredFacts): NewChange[] {
  if (before.basis !== after.basis) return [];
  const [was, is] = [byKey(before.facts), byKey(after.facts)];
  const changes: NewChange[] = [];
  for (const [key, fact] of is) {
    const old = was.get(key);
    if (old ? old[2] !== fact[2] : hasCome(place, fact, was)) changes.push(changeOf(place, old, fact));
  }
  for (const [key, fact] of was) {
    if (!is.has(key) && hasCome(place, fact, is)) changes.push(changeOf(place, fact, undefined));
  }
  // Another server has started at another time: that is no restart.
  return changes.filter(({ kind }) => kind !== 'restart' || serverOf(before) === serverOf(after));
}

function byKey(facts: readonly Fact[]): Map<string, Fact> {
  return new Map(facts.map((fact) => [keyOf(fact[0], fact[1], fact[3]?.database), fact]));
}

function keyOf(kind: string, subject: string, database = ''): string {
  return JSON.stringify([kind, database, subject]);
}

/** Whether a fact that the other reading lacks is a change. The server's settings come and go with versions and privileges only. */
function hasCome({ kind }: Place, [, , , more]: Fact, others: ReadonlyMap<string, Fact>): boolean {
  if (kind === 'setting' || kind === 'server') return false;
  return more?.of === undefined || others.has(keyOf('table', more.of));
}

function serverOf({ facts }: StoredFacts): string | undefined {
  return facts.find(([kind]) => kind === 'restart')?.[3]?.of;
}

function changeOf({ database }: Place, old: Fact | undefined, fact: Fact | undefined): NewChange {
  const [kind, subject, , more] = (fact ?? old) as Fact;
  const [before, after] = shownValues(kind, old?.[2] ?? null, fact?.[2] ?? null);
  return { kind, database: more?.database ?? database, subject, before, after, source: more?.source ?? null };
}

/** The values as they are listed. Of two long lists, such as `a=on,b=off`, only the items that differ. */
function shownValues(
  kind: string,
  before: string | null,
  after: string | null,
): [before: string | null, after: string | null] {
  const length = ['index', 'constraint', 'column'].includes(kind) ? DEFINITION : TEXT;
  if (before !== null && after !== null && Math.max(before.length, after.length) > length) {
    const [was, is] = [before.split(','), after.split(',')];
    const without = (items: string[], others: string[]) => {
      const known = new Set(others);
      return `… ${items.filter((item) => !known.has(item)).join(',')}`;
    };
    return [short(without(was, is), length), short(without(is, was), length)];
  }
  return [before && short(before, length), after && short(after, length)];
}

function short(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
