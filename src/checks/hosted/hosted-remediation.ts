import type { SqlFamily } from '../../vocabulary/engines.ts';
import { PROVIDER_NAMES, type Provider } from '../../vocabulary/hosted/providers.ts';
import { byProcedures } from './hosted-replication.ts';

/** What a remediation is for. */
interface Asked {
  engine: SqlFamily;
  checkId: string;
  remediation: string;
}

type Steps = (provider: Provider, engine: Asked['engine']) => string;

/** Check id → its steps on a hosted server, where the usual ones need the machine or a superuser. */
const STEPS: Readonly<Record<string, Steps>> = {
  PG_PENDING_RESTART: restart,
  PG_VERSION_EOL: upgrade,
  PG_MINOR_OUTDATED: upgrade,
  MY_VERSION_EOL: upgrade,
  PG_NO_TLS: requireTls,
  PG_ARCHIVER_FAILING: askSupport,
  PG_CHECKSUM_FAILURES: askSupport,
  MY_FORCE_RECOVERY: askSupport,
  MY_BINLOG_OFF: turnOnBackups,
};

// What no customer of a provider can run, or has no file for.
const OUT_OF_REACH =
  /\bALTER SYSTEM\b|\bSET PERSIST\b|\bSET GLOBAL\b|option file|pg_hba\.conf|systemctl|pg_ctl|ALLOW_CONNECTIONS|ALTER INSTANCE|\bALTER ROLE ALL\b|^Install the package|\b(?:START|STOP|RESET) (?:REPLICA|SLAVE|ALL SLAVES|GROUP_REPLICATION)\b|\bCHANGE (?:MASTER|REPLICATION SOURCE)\b/;

/**
 * A remediation for a server that a provider hosts: in its terms where it has some, and never a statement that needs a
 * superuser or the machine's files. Others stay as they are.
 */
export function hostedRemediation(provider: Provider, { engine, checkId, remediation }: Asked): string {
  const steps = Object.hasOwn(STEPS, checkId) ? STEPS[checkId] : undefined;
  if (steps) return steps(provider, engine);
  const own = engine === 'mysql' ? byProcedures(provider, remediation) : remediation;
  return OUT_OF_REACH.test(whole(own)) ? askSupport(provider) : own;
}

const QUOTED = /'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g;

/** Without the names and literals before its note, and with the statements that are prepared from their bytes. */
function whole(remediation: string): string {
  const [statements = '', ...notes] = remediation.split('; -- ');
  return [statements.replace(QUOTED, "''"), ...notes]
    .join('; -- ')
    .replace(/\b0x((?:[0-9a-f]{2})+)\b/g, (_, bytes) => Buffer.from(bytes, 'hex').toString());
}

function askSupport(provider: Provider): string {
  const company = PROVIDER_NAMES[provider];
  return `${company} gives no login the rights to do this: look for it in the settings that ${company} offers, or ask its support.`;
}

function restart(provider: Provider, engine: Asked['engine']): string {
  switch (provider) {
    case 'rds':
    case 'aurora':
      return 'Restart the instance in a quiet period: aws rds reboot-db-instance --db-instance-identifier INSTANCE';
    case 'cloudsql':
      return 'Restart the instance in a quiet period: gcloud sql instances restart INSTANCE';
    case 'alloydb':
      return 'Restart the instance in a quiet period: gcloud alloydb instances restart INSTANCE --cluster=CLUSTER --region=REGION';
    case 'azure':
      return `Restart the server in a quiet period: az ${engine} flexible-server restart --resource-group GROUP --name SERVER`;
    case 'supabase':
      return 'Restart the project in a quiet period, in the Supabase dashboard (Project Settings, General).';
    case 'neon':
      return 'Restart the compute in a quiet period, in the Neon console (Branches, Computes).';
    case 'digitalocean':
    case 'aiven':
      return `Restart the service in a quiet period, in the console of ${PROVIDER_NAMES[provider]}.`;
  }
}

function upgrade(provider: Provider, engine: Asked['engine']): string {
  switch (provider) {
    case 'rds':
      return 'Choose a version with "aws rds describe-db-engine-versions", test it with a restored snapshot, and upgrade: aws rds modify-db-instance --db-instance-identifier INSTANCE --engine-version VERSION (for a new major version also --allow-major-version-upgrade)';
    case 'aurora':
      return 'Choose a version with "aws rds describe-db-engine-versions", test it with a restored snapshot, and upgrade: aws rds modify-db-cluster --db-cluster-identifier CLUSTER --engine-version VERSION (for a new major version also --allow-major-version-upgrade)';
    case 'cloudsql':
      return 'Test the new version with a clone, and upgrade: gcloud sql instances patch INSTANCE --database-version=VERSION (Cloud SQL installs new minor versions itself, in the maintenance window)';
    case 'azure':
      return `Test the new version with a restored server, and upgrade: az ${engine} flexible-server upgrade --resource-group GROUP --name SERVER --version VERSION (Azure installs new minor versions itself, in the maintenance window)`;
    default:
      return `Test the new version with a copy, and upgrade in the console of ${PROVIDER_NAMES[provider]}; it installs new minor versions itself, in the maintenance window.`;
  }
}

function requireTls(provider: Provider): string {
  switch (provider) {
    case 'rds':
      return 'Require TLS with rds.force_ssl = 1 in a DB parameter group of your own: aws rds modify-db-parameter-group --db-parameter-group-name GROUP --parameters "ParameterName=rds.force_ssl,ParameterValue=1,ApplyMethod=immediate"';
    case 'aurora':
      return 'Require TLS with rds.force_ssl = 1 in a DB cluster parameter group of your own: aws rds modify-db-cluster-parameter-group --db-cluster-parameter-group-name GROUP --parameters "ParameterName=rds.force_ssl,ParameterValue=1,ApplyMethod=immediate"';
    case 'cloudsql':
      return 'Require TLS: gcloud sql instances patch INSTANCE --ssl-mode=ENCRYPTED_ONLY';
    case 'alloydb':
      return 'Require TLS: gcloud alloydb instances update INSTANCE --cluster=CLUSTER --region=REGION --ssl-mode=ENCRYPTED_ONLY';
    case 'azure':
      return 'Require TLS: az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER --name require_secure_transport --value on';
    case 'supabase':
      return 'Require TLS: supabase ssl-enforcement --project-ref PROJECT update --enable-db-ssl-enforcement --experimental';
    default:
      return askSupport(provider);
  }
}

function turnOnBackups(provider: Provider): string {
  switch (provider) {
    case 'rds':
      return 'Turn on automated backups, which turn on the binary log: aws rds modify-db-instance --db-instance-identifier INSTANCE --backup-retention-period 7 --apply-immediately';
    case 'aurora':
      return 'Aurora restores to any moment without the binary log. For replicas outside, set binlog_format to ROW in a DB cluster parameter group of your own: aws rds modify-db-cluster-parameter-group --db-cluster-parameter-group-name GROUP --parameters "ParameterName=binlog_format,ParameterValue=ROW,ApplyMethod=pending-reboot"';
    case 'cloudsql':
      return 'Turn on the binary log (backups must be on): gcloud sql instances patch INSTANCE --enable-bin-log';
    default:
      return askSupport(provider);
  }
}
