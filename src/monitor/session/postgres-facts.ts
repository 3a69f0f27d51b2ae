import type { Row } from '../../checks/fault.ts';
import { MEASURED_DATABASE } from '../../checks/postgres/database-left-out.ts';
import { trustedText } from '../../checks/postgres/server-texts.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import { POSTGRES_TRAITS, providerOfPostgres } from '../../vocabulary/hosted/providers.ts';
import type { RunFacts } from './engine-parts.ts';
import type { Session } from './session.ts';

const traits = Object.values(POSTGRES_TRAITS);
const listed = (names: readonly (string | undefined)[]) =>
  names.flatMap((name) => (name === undefined ? [] : [`'${name}'`])).join(', ');

/** A login that waits for so long in a database is of an earlier run, or of somebody else. */
const LOGIN_SECONDS = 10;

/** The most databases that a run names as left out: a collector's result has no more. */
const LEFT_OUT = 10_000;

// A login may not read every setting. pg_settings leaves those out; current_setting() would fail.
const serverFacts = `
  select current_setting('server_version_num')::int as version,
         quote_ident(current_user) as me,
         pg_is_in_recovery() as standby,
         pg_get_userbyid(10)::text as bootstrap,
         array(select rolname::text
                 from pg_roles
                where rolname in (${listed(traits.map(({ role }) => role))})) as roles,
         array(select datname::text
                 from pg_database
                where datname in (${listed(traits.map(({ database }) => database))})) as own_databases,
         array(select distinct split_part(name, '.', 1)
                 from pg_settings
                where split_part(name, '.', 1) in (${listed(traits.map(({ prefix }) => prefix))})) as prefixes,
         exists (select
                   from pg_proc
                  where proname = 'aurora_version' and pronamespace = 'pg_catalog'::regnamespace) as aurora,
         array(select datname::text
                 from pg_database
                where ${MEASURED_DATABASE}
                order by datname <> current_database(), datname) as databases,
         -- An invalid one is the rest of a DROP.
         array(select datname::text
                 from pg_database
                where not (${MEASURED_DATABASE}) and datconnlimit <> -2
                order by datistemplate, datname
                limit ${LEFT_OUT}) as left_out`;

// A statement of its own: a server may hide its locks from the login.
const lockedDatabases = `
  select distinct datname::text as database
    from pg_locks l
    join pg_database d on d.oid = l.database
   where not l.granted and l.locktype = 'relation'
     and l.relation < 16384 -- a catalogue
     and l.waitstart < clock_timestamp() - interval '${LOGIN_SECONDS} s'`;

/** Reads the version, the databases and the provider of a PostgreSQL server. */
export async function factsOfPostgres(session: Session): Promise<RunFacts> {
  const [row] = await session.read(serverFacts);
  const { version, databases, bootstrap, aurora, me } = row ?? {};
  if (typeof version !== 'number' || !Array.isArray(databases))
    throw new OwnWords('it is not a supported PostgreSQL');
  const [roles = [], own = [], prefixes = [], leftOut = []] = [
    row?.['roles'],
    row?.['own_databases'],
    row?.['prefixes'],
    row?.['left_out'],
  ].map(textsIn);
  const provider = providerOfPostgres({
    bootstrap: String(bootstrap),
    roles,
    databases: own,
    prefixes,
    aurora: aurora === true,
  });
  // The session is in the only one.
  const locked = databases.length < 2 ? [] : await session.read(lockedDatabases).catch((): Row[] => []);
  return {
    version,
    databases: databases.map(String),
    leftOut,
    lockedDatabases: locked.map(({ database }) => String(database)),
    provider,
    me: trustedText('me', String(me)),
    isStandby: row?.['standby'] === true,
  };
}

function textsIn(values: unknown): string[] {
  return Array.isArray(values) ? values.map(String) : [];
}

/** Whether a PostgreSQL server is a primary, not a standby. */
export async function isPostgresPrimary(session: Session): Promise<boolean> {
  const [row] = await session.read('select pg_is_in_recovery() as standby');
  return row?.['standby'] === false;
}
