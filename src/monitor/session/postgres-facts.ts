import type { RunFacts } from './engine.ts';
import type { Session } from './session.ts';

const serverFacts = `
  select current_setting('server_version_num')::int as version,
         array(select datname::text
                 from pg_database
                where datallowconn and not datistemplate and datconnlimit <> -2
                  and has_database_privilege(oid, 'connect')
                order by datname <> current_database(), datname) as databases`;

/** Reads the version and the databases of a PostgreSQL server. */
export async function factsOfPostgres(session: Session): Promise<RunFacts> {
  const [row] = await session.read(serverFacts);
  const { version, databases } = row ?? {};
  if (typeof version !== 'number' || !Array.isArray(databases))
    throw new Error('it is not a supported PostgreSQL');
  return { version, databases: databases.map(String) };
}

/** Whether a PostgreSQL server is a primary, not a standby. */
export async function isPostgresPrimary(session: Session): Promise<boolean> {
  const [row] = await session.read('select pg_is_in_recovery() as standby');
  return row?.['standby'] === false;
}
