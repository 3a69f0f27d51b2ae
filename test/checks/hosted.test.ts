import { afterEach, expect, test } from 'vitest';
import { measure } from '../../src/monitor/measure.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import type { Provider } from '../../src/vocabulary/hosted/providers.ts';
import { PASSWORD, PostgresServer, toTarget } from './postgres-server.ts';

// The providers' own servers can't run here. These are PostgreSQL servers with the roles, databases and refusals that the
// providers document (docs/hosted-databases.md names the pages).

let server: PostgresServer;
afterEach(() => server?.stop());

/** Thresholds that make findings of a sound server. */
const SOON = { PG_MAX_CONN_HIGH: { info: 5 }, PG_SHARED_BUFFERS_LOW: { warning_bytes: 512 * 1024 * 1024 } };

const target = () => toTarget(server);

function run() {
  const signal = new AbortController().signal;
  return measure(target(), { allowPrivateTargets: true, thresholds: SOON, signal });
}

interface Hosted {
  /** The bootstrap superuser. */
  bootstrap: string;
  roles: string[];
  databases?: string[];
  /** Views that the server refuses with feature_not_supported. */
  refused?: string[];
  aurora?: true;
}

async function start({ bootstrap, roles, databases = [], refused = [], aurora }: Hosted): Promise<void> {
  server = await PostgresServer.start();
  const sql = (statement: string) => server.run(statement);
  if (bootstrap !== 'postgres') {
    // The tests log in as postgres, so a second superuser gets that name.
    await sql('alter role stranger superuser');
    const other = await server.open('stranger');
    await other.query(`alter role postgres rename to ${bootstrap}`);
    await other.query(`create role postgres superuser login password '${PASSWORD}'`);
    await other.query('alter role stranger nosuperuser');
    await other.end();
  }
  for (const role of roles) if (role !== bootstrap) await sql(`create role ${role}`);
  for (const name of databases) {
    await sql(`create database ${name}`);
    await sql(`revoke connect on database ${name} from public`);
  }
  if (aurora)
    await sql(`create function pg_catalog.aurora_version() returns text language sql as $$select '16.4.0'$$`);
  if (refused.length > 0) await refuse(refused);
  for (const name of ['fsync', 'autovacuum', 'enable_mergejoin']) await sql(`alter system set ${name} = off`);
  await sql('select pg_reload_conf()');
}

const REFUSAL = 'Function of this view is currently not supported for Aurora';

/** Makes views of the catalogue fail with feature_not_supported, as Aurora's do. */
async function refuse(views: string[]): Promise<void> {
  const superuser = await server.open();
  await superuser.query('set allow_system_table_mods = on');
  await superuser.query(`
    create function pg_catalog.refused() returns boolean language plpgsql as
      $$begin raise feature_not_supported using message = '${REFUSAL}'; end$$`);
  for (const view of views) {
    await superuser.query(`alter view pg_catalog.${view} rename to ${view}_of_postgres`);
    await superuser.query(
      `create view pg_catalog.${view} as select * from pg_catalog.${view}_of_postgres where (select pg_catalog.refused())`,
    );
    await superuser.query(`grant select on pg_catalog.${view} to public`);
  }
  await superuser.end();
}

const AURORA_REFUSES = ['pg_stat_wal', 'pg_stat_wal_receiver'];

const HOSTED: [Provider, Hosted, string][] = [
  [
    'rds',
    { bootstrap: 'rdsadmin', roles: ['rds_superuser'], databases: ['rdsadmin'] },
    'aws rds modify-db-parameter-group --db-parameter-group-name GROUP --parameters "ParameterName=max_connections,ParameterValue=\'5\',ApplyMethod=pending-reboot"',
  ],
  [
    'aurora',
    { bootstrap: 'rdsadmin', roles: ['rds_superuser'], aurora: true, refused: AURORA_REFUSES },
    'aws rds modify-db-cluster-parameter-group --db-cluster-parameter-group-name GROUP --parameters "ParameterName=max_connections,ParameterValue=\'5\',ApplyMethod=pending-reboot"',
  ],
  [
    'alloydb',
    { bootstrap: 'alloydbadmin', roles: ['alloydbsuperuser'] },
    'gcloud alloydb instances describe INSTANCE --cluster=CLUSTER --region=REGION --format="yaml(databaseFlags)"',
  ],
  [
    'cloudsql',
    { bootstrap: 'cloudsqladmin', roles: ['cloudsqlsuperuser'], databases: ['cloudsqladmin'] },
    "gcloud sql instances patch INSTANCE --database-flags='^;^OTHER_FLAGS;max_connections=5'",
  ],
  [
    'azure',
    { bootstrap: 'azuresu', roles: ['azure_pg_admin'], databases: ['azure_maintenance'] },
    'az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER --name max_connections --value 5',
  ],
  [
    'supabase',
    { bootstrap: 'supabase_admin', roles: ['supabase_auth_admin'] },
    'supabase --experimental --project-ref PROJECT postgres-config update --config max_connections=5',
  ],
  ['neon', { bootstrap: 'cloud_admin', roles: ['neon_superuser'] }, 'raise the size in the Neon console'],
  [
    'digitalocean',
    { bootstrap: 'postgres', roles: ['doadmin'], databases: ['_dodb'] },
    'doctl databases configuration update CLUSTER --engine pg --config-json \'{"max_connections": 5}\'',
  ],
  [
    'aiven',
    { bootstrap: 'postgres', roles: ['avnadmin'], databases: ['_aiven'] },
    'avn service update SERVICE -c pg.max_connections=5',
  ],
];

test.each(HOSTED)(
  '%s is recognised; no check fails, and remediations are in its terms',
  async (provider, hosted, way) => {
    await start(hosted);
    const { server: seen, outcomes, measures } = await run();
    expect(seen?.provider).toBe(provider);
    const findings = outcomes.flatMap((outcome) => outcome.findings);
    expect(findings.filter(({ status }) => status === 'error')).toEqual([]);
    for (const { remediation } of findings)
      expect(remediation).not.toMatch(/ALTER SYSTEM|pg_hba\.conf|systemctl|SUPERUSER/);
    const of = (id: string) => findings.filter(({ check_id }) => check_id === id);
    expect(of('PG_MAX_CONN_HIGH')[0]?.remediation).toContain(way);
    expect(of('PG_SHARED_BUFFERS_LOW')[0]?.remediation).toMatch(/65536|Neon console/);
    expect(of('PG_AUTOVACUUM_OFF')[0]?.status).toBe('warning');
    const fsync = of('PG_FSYNC_OFF')[0];
    if (['aurora', 'alloydb', 'neon'].includes(provider)) {
      expect(fsync?.metric_line).toMatch(/keeps commits in its own storage service/);
      expect(fsync?.status).toBe('skipped');
    } else expect(fsync?.remediation).toMatch(/sets fsync itself/);
    // One refused function of WAL must not take the other vitals with it.
    expect(measures.map(({ metric }) => metric)).toContain('connections_count');
    const held = new HeldSession(target(), true);
    expect(await held.pulse()).toMatchObject({ reading: { isStandby: false, isReplicating: null } });
    await held.end();
  },
);

test.each<[string, Hosted]>([
  ['a server of one’s own', { bootstrap: 'postgres', roles: [] }],
  [
    'roles that a dump brought from RDS and Azure',
    { bootstrap: 'postgres', roles: ['rds_superuser', 'rdsadmin', 'azure_pg_admin', 'neon_superuser'] },
  ],
  ['databases with those names', { bootstrap: 'postgres', roles: [], databases: ['rdsadmin', '_dodb'] }],
  ['a superuser with that name', { bootstrap: 'rdsadmin', roles: [] }],
])('%s is not taken for a hosted server', async (_what, hosted) => {
  await start(hosted);
  const { server: seen, outcomes } = await run();
  expect(seen?.provider).toBeNull();
  const fsync = outcomes
    .flatMap(({ findings }) => findings)
    .find(({ check_id }) => check_id === 'PG_FSYNC_OFF');
  expect(fsync?.remediation).toBe('ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf();');
});

test('a check whose function the provider refuses is skipped with its reason', async () => {
  await start({
    bootstrap: 'rdsadmin',
    roles: ['rds_superuser'],
    aurora: true,
    refused: ['pg_replication_slots'],
  });
  const { outcomes } = await run();
  const finding = outcomes
    .flatMap(({ findings }) => findings)
    .find(({ check_id }) => check_id === 'PG_SLOT_INACTIVE');
  expect(finding).toMatchObject({
    status: 'skipped',
    metric_line: `Not measured: Amazon Aurora does not offer what this check reads (the server says “${REFUSAL}” (0A000)).`,
  });
  expect(finding?.missing_grant).toBeUndefined();
});

test('a server that is not known to be hosted reports the same refusal as an error', async () => {
  await start({ bootstrap: 'postgres', roles: [], refused: ['pg_replication_slots', 'pg_stat_wal'] });
  const { outcomes, measures } = await run();
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  expect(findings.find(({ check_id }) => check_id === 'PG_SLOT_INACTIVE')?.status).toBe('error');
  expect(measures.map(({ metric }) => metric)).not.toContain('connections_count');
});
