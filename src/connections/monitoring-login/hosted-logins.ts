import type { Engine } from '../../vocabulary/engines.ts';
import { SHIPPED_AUTHORITIES } from '../../vocabulary/hosted/authorities.ts';
import type { Provider } from '../../vocabulary/hosted/providers.ts';

/** The administrator of a provider's PostgreSQL, who is no superuser: docs/hosted-databases.md names the sources. */
const POSTGRES: Readonly<Record<Provider, string>> = {
  rds: 'As the master user, a member of rds_superuser',
  aurora: 'As the master user, a member of rds_superuser',
  alloydb: 'As postgres, a member of alloydbsuperuser',
  cloudsql: 'As postgres, a member of cloudsqlsuperuser',
  azure: "As the server's administrator, a member of azure_pg_admin",
  supabase: 'As postgres, such as in the SQL editor of the dashboard',
  neon: 'As a role that was created in the console of Neon, a member of neon_superuser',
  digitalocean: 'As doadmin',
  aiven: 'As avnadmin',
};

/** The administrator of a provider's MySQL or MariaDB. */
const MYSQL: Readonly<Partial<Record<Provider, string>>> = {
  rds: 'As the master user',
  aurora: 'As the master user',
  cloudsql: 'As root',
  azure: "As the server's administrator",
  digitalocean: 'As doadmin',
  aiven: 'As avnadmin',
};

const NOT_SUPER =
  'The administrator is no superuser: GRANT on sequences and tables reaches only those that it, or a role that it belongs to, owns. Run the statements for a database as the owner of its tables if others own them.';

const AMAZON = `The certificates are of Amazon's own authority: enter ${SHIPPED_AUTHORITIES[0]} as trusted certificates (--ca ${SHIPPED_AUTHORITIES[0]}).`;
const OF_INSTANCE = (how: string) =>
  `The certificate is of the provider's own authority: ${how}, and add it to the trusted certificates (--ca-file).`;

const NOTES: Readonly<Partial<Record<Provider, readonly string[]>>> = {
  rds: [AMAZON],
  aurora: [AMAZON],
  alloydb: [OF_INSTANCE('get it from the instance')],
  cloudsql: [OF_INSTANCE(`run "gcloud sql instances describe INSTANCE --format='value(serverCaCert.cert)'"`)],
  supabase: [
    OF_INSTANCE('download it in the dashboard (Database, Settings, SSL Configuration)'),
    'Through the pooler, the login is named LOGIN.PROJECT.',
  ],
  neon: ['Neon refuses weak passwords: choose a long random one.'],
  digitalocean: [OF_INSTANCE('run "doctl databases get-ca CLUSTER --format Certificate --no-header"')],
  aiven: [OF_INSTANCE('run "avn project ca-get"')],
};

/** Who runs the statements, as the beginning of a sentence. */
export function nameAdministrator(engine: Engine, provider: Provider | null): string {
  const named = provider && (engine === 'postgres' ? POSTGRES : MYSQL)[provider];
  return named ?? (engine === 'postgres' ? 'As a superuser' : 'As an administrator');
}

/** What to know besides the statements, in sentences. */
export function loginNotes(engine: Engine, provider: Provider | null): string[] {
  if (provider === null) return [];
  return [...(NOTES[provider] ?? []), ...(engine === 'postgres' ? [NOT_SUPER] : [])];
}
