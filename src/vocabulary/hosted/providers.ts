/** The hosted databases that dbvitals recognises, as stored in `connection.provider`. */
export const PROVIDERS = [
  'aurora',
  'rds',
  'alloydb',
  'cloudsql',
  'azure',
  'supabase',
  'neon',
  'digitalocean',
  'aiven',
] as const;

export type Provider = (typeof PROVIDERS)[number];

/** The names of the hosted databases in text. */
export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  aurora: 'Amazon Aurora',
  rds: 'Amazon RDS',
  alloydb: 'AlloyDB',
  cloudsql: 'Cloud SQL',
  azure: 'Azure Flexible Server',
  supabase: 'Supabase',
  neon: 'Neon',
  digitalocean: 'DigitalOcean',
  aiven: 'Aiven',
};

/** What a PostgreSQL server shows to any login about where it is hosted. */
export interface PostgresTraits {
  /** The name of the bootstrap superuser (role 10), which owns the templates. A restore never changes it. */
  bootstrap: string;
  /** Those of {@link POSTGRES_TRAITS}' roles that exist. */
  roles: readonly string[];
  /** Those of its databases that exist. */
  databases: readonly string[];
  /** The distinct prefixes of its settings, such as `rds` of `rds.extensions`. */
  prefixes: readonly string[];
  /** Whether `pg_catalog.aurora_version()` exists. */
  aurora: boolean;
}

/**
 * The facts of each provider's PostgreSQL, from its documentation (docs/hosted-databases.md). One of the facts besides
 * the role must hold too: a dump of a hosted server brings its roles to other servers.
 */
export const POSTGRES_TRAITS: Readonly<
  Record<
    Exclude<Provider, 'aurora'>,
    { role: string; bootstrap?: string; database?: string; prefix?: string }
  >
> = {
  rds: { role: 'rds_superuser', bootstrap: 'rdsadmin', database: 'rdsadmin', prefix: 'rds' },
  alloydb: {
    role: 'alloydbsuperuser',
    bootstrap: 'alloydbadmin',
    database: 'alloydbadmin',
    prefix: 'alloydb',
  },
  cloudsql: {
    role: 'cloudsqlsuperuser',
    bootstrap: 'cloudsqladmin',
    database: 'cloudsqladmin',
    prefix: 'cloudsql',
  },
  azure: { role: 'azure_pg_admin', bootstrap: 'azuresu', database: 'azure_maintenance', prefix: 'azure' },
  supabase: { role: 'supabase_auth_admin', bootstrap: 'supabase_admin', prefix: 'supautils' },
  neon: { role: 'neon_superuser', bootstrap: 'cloud_admin', prefix: 'neon' },
  digitalocean: { role: 'doadmin', database: '_dodb' },
  aiven: { role: 'avnadmin', database: '_aiven', prefix: 'aiven' },
};

/** The provider that hosts a PostgreSQL server; null = none that is known. */
export function providerOfPostgres(traits: PostgresTraits): Provider | null {
  for (const provider of PROVIDERS) {
    if (provider === 'aurora') continue;
    const { role, bootstrap, database, prefix } = POSTGRES_TRAITS[provider];
    const another =
      traits.bootstrap === bootstrap ||
      (database !== undefined && traits.databases.includes(database)) ||
      (prefix !== undefined && traits.prefixes.includes(prefix));
    if (another && traits.roles.includes(role))
      return provider === 'rds' && traits.aurora ? 'aurora' : provider;
  }
  return null;
}

/** What a MySQL or MariaDB server shows to any login about where it is hosted. */
export interface MysqlTraits {
  /** `version()`, such as `8.0.31-google`. */
  version: string;
  /** `@@version_comment`, such as `(Google)`. */
  comment: string;
  /** `@@basedir`, such as `/rdsdbbin/mysql-8.0.36.R1/`. */
  folder: string;
  /** Those of {@link MYSQL_VARIABLES} that exist. */
  variables: readonly string[];
}

/** System variables that only one provider's MySQL has. */
export const MYSQL_VARIABLES = ['aurora_version', 'cloudsql_iam_authentication', 'aad_auth_only'] as const;

/** The provider that hosts a MySQL or MariaDB server; null = none that is known. */
export function providerOfMysql({ version, comment, folder, variables }: MysqlTraits): Provider | null {
  if (folder.startsWith('/rdsdbbin/')) return variables.includes('aurora_version') ? 'aurora' : 'rds';
  if (variables.includes('aurora_version')) return 'aurora';
  if (
    /-google\b/.test(version) ||
    comment === '(Google)' ||
    variables.includes('cloudsql_iam_authentication')
  )
    return 'cloudsql';
  if (/-azure\b/.test(version) || variables.includes('aad_auth_only')) return 'azure';
  return null;
}
