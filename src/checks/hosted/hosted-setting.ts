import type { SqlFamily } from '../../vocabulary/engines.ts';
import { PROVIDER_NAMES, type Provider } from '../../vocabulary/hosted/providers.ts';

/** A setting of a hosted server, and the value that it should have. */
export interface WantedSetting {
  engine: SqlFamily;
  name: string;
  /** In the setting's own unit, such as pages of 8 kB, because parameter groups and flags take no other; `on` and `off` for a switch. */
  value: string | number;
  /** Takes effect at a restart only. */
  restart: boolean;
}

/** Settings that no provider lets its customers change. */
const FIXED = new Set(['fsync', 'full_page_writes', 'ssl', 'track_counts', 'innodb_doublewrite']);

/** Google loads the libraries of the extensions that it supports, and has no flag for them. */
const LOADED_BY_GOOGLE = new Set(['cloudsql shared_preload_libraries', 'alloydb shared_preload_libraries']);

// Both end up in a shell, so one that was read from the server must not be able to end the command.
const HARMLESS = /^[\w.,+-]*$/;

const LATER = ' It takes effect after a restart of the instance.';
const AT_ONCE = ' The command restarts the instance.';
const PERHAPS = ' It takes effect after a restart, which the command may cause.';

/** How a setting that is read at the start only takes effect. */
const RESTARTS: Readonly<Record<Provider, string>> = {
  rds: LATER,
  aurora: LATER,
  azure: LATER,
  cloudsql: AT_ONCE,
  alloydb: AT_ONCE,
  supabase: ' The command restarts the database.',
  neon: '',
  digitalocean: PERHAPS,
  aiven: PERHAPS,
};

/**
 * How to change a setting of a hosted server: steps in the provider's terms, because `ALTER SYSTEM`, `SET PERSIST` and
 * option files need a superuser. Words in capitals stand for names that only the reader knows.
 */
export function hostedSetting(provider: Provider, wanted: WantedSetting): string {
  const { engine, name, restart } = wanted;
  const company = PROVIDER_NAMES[provider];
  if (name === 'require_secure_transport' && provider === 'cloudsql')
    return 'Require TLS: gcloud sql instances patch INSTANCE --ssl-mode=ENCRYPTED_ONLY';
  if (FIXED.has(name) || LOADED_BY_GOOGLE.has(`${provider} ${name}`))
    return `${company} sets ${name} itself, and no login can change it: ask its support.`;
  const value = spelled(provider, wanted);
  if (!HARMLESS.test(name))
    return `Look for the setting in those that ${company} offers, or ask its support.`;
  if (!HARMLESS.test(value)) return `Set ${name} in the settings that ${company} offers, or ask its support.`;
  const [sole, also] = [`${name}=${value}`, restart ? RESTARTS[provider] : ''];
  const ask = ` If ${company} does not let you set ${name}, ask its support.`;
  switch (provider) {
    case 'rds':
    case 'aurora': {
      const [kind, option] =
        provider === 'rds' ? ['db', 'DB parameter group'] : ['db-cluster', 'DB cluster parameter group'];
      const method = restart ? 'pending-reboot' : 'immediate';
      const or =
        provider === 'rds'
          ? ''
          : ' If it is a parameter of the instance, change the DB parameter group instead.';
      return `Set ${name} to ${value} in a ${option} of your own (a default one can't be changed): aws rds modify-${kind}-parameter-group --${kind}-parameter-group-name GROUP --parameters "ParameterName=${name},ParameterValue='${value}',ApplyMethod=${method}"${or}${also}${ask}`;
    }
    case 'cloudsql':
      return `Set the flag ${name} to ${value}. The command replaces all flags, so list them first, and repeat those that must stay: gcloud sql instances describe INSTANCE --format="yaml(settings.databaseFlags)" and then gcloud sql instances patch INSTANCE --database-flags='^;^OTHER_FLAGS;${sole}'${also}${ask}`;
    case 'alloydb':
      return `Set the flag ${name} to ${value}. The command replaces all flags, so list them first, and repeat those that must stay: gcloud alloydb instances describe INSTANCE --cluster=CLUSTER --region=REGION --format="yaml(databaseFlags)" and then gcloud alloydb instances update INSTANCE --cluster=CLUSTER --region=REGION --database-flags='^;^OTHER_FLAGS;${sole}'${also}${ask}`;
    case 'azure':
      return `Set the server parameter ${name} to ${value}: az ${engine} flexible-server parameter set --resource-group GROUP --server-name SERVER --name ${name} --value ${value}${also}${ask}`;
    case 'supabase':
      return `Set ${name} to ${value}: supabase --experimental --project-ref PROJECT postgres-config update --config ${sole} (if Supabase does not offer ${name}, ask its support).${also}`;
    case 'neon':
      return ['max_connections', 'shared_buffers'].includes(name)
        ? `Neon sets ${name} by the size of the compute: raise the size in the Neon console (Branches, Computes, Edit).`
        : `Neon sets ${name} itself: ask its support.`;
    case 'digitalocean':
      return `Set ${name} to ${value} in the cluster's configuration: doctl databases configuration update CLUSTER --engine ${engine === 'postgres' ? 'pg' : 'mysql'} --config-json '{"${name}": ${json(value)}}' (if DigitalOcean does not offer ${name}, ask its support).${also}`;
    case 'aiven':
      return `Set ${name} to ${value} in the service's advanced configuration: avn service update SERVICE -c ${engine === 'postgres' ? 'pg' : 'mysql'}.${sole} (if Aiven does not offer ${name}, ask its support).${also}`;
  }
}

/** How to give a setting of a hosted server its default again, as the beginning of a sentence's list. */
export function hostedDefault(provider: Provider, name: string): string {
  switch (provider) {
    case 'rds':
      return `reset it in the DB parameter group (aws rds reset-db-parameter-group --db-parameter-group-name GROUP --parameters "ParameterName=${name},ApplyMethod=pending-reboot")`;
    case 'aurora':
      return `reset it in the DB cluster parameter group (aws rds reset-db-cluster-parameter-group --db-cluster-parameter-group-name GROUP --parameters "ParameterName=${name},ApplyMethod=pending-reboot")`;
    default:
      return `remove it from the settings that ${PROVIDER_NAMES[provider]} offers, or ask its support`;
  }
}

/** A switch as the provider spells it; other values as they are. */
function spelled(provider: Provider, { value }: WantedSetting): string {
  const text = String(value);
  if (!/^(?:on|off)$/i.test(text)) return text;
  const on = /^on$/i.test(text);
  switch (provider) {
    case 'rds':
    case 'aurora':
      return on ? '1' : '0';
    case 'digitalocean':
    case 'aiven':
      return String(on);
    default:
      return text.toLowerCase();
  }
}

function json(value: string): string {
  return /^(?:\d+|true|false)$/.test(value) ? value : `"${value}"`;
}
