import type { Provider } from '../../vocabulary/hosted/providers.ts';

// Names and literals are matched first, so that nothing in them is taken for a statement. Those of concat() are the one
// exception: a name can't look like them, because its quotes are doubled.
const TEXT = String.raw`(?<text>'(?:[^'\\]|''|\\.)*'|\`(?:[^\`]|\`\`)*\`)`;
const KILL = String.raw`concat\('KILL (?<query>QUERY )?', (?<id>[\w.]+), ';'\)`;
const THREADS = String.raw`\b(?<verb>START|STOP) (?:REPLICA|SLAVE)(?: SQL_THREAD)?(?: FOR CHANNEL (?<channel>'(?:[^'\\]|'')*'))?;`;
const GROUP = String.raw`\b(?<group>START|STOP) GROUP_REPLICATION(?<login> USER = 'name', PASSWORD = 'password')?;`;
const NOTES = String.raw`(?<kill>-- KILL the session)|(?<expiry>\(binlog_expire_logs_seconds\))`;

const STATEMENTS = new RegExp([KILL, GROUP, TEXT, THREADS, NOTES].join('|'), 'g');

type Found = Readonly<Record<string, string | undefined>>;

/**
 * A remediation of MySQL with the provider's own procedures and commands for sessions and replication. What a provider
 * has none for stays as it is.
 */
export function byProcedures(provider: Provider, remediation: string): string {
  if (provider !== 'rds' && provider !== 'aurora' && provider !== 'cloudsql' && provider !== 'azure')
    return remediation;
  const translated = remediation.replace(STATEMENTS, (whole, ...rest) => {
    const found = rest.at(-1) as Found;
    if (found['text'] !== undefined) return whole;
    return TRANSLATIONS[provider](found) ?? whole;
  });
  if (provider !== 'rds' || translated === remediation) return translated;
  return translated
    .replace('with the replication login of the group', 'with the password of rdsgrprepladmin')
    .replace('without USER and PASSWORD', 'without rds_group_replication_set_recovery_channel');
}

const TRANSLATIONS = {
  rds: (found: Found) => amazon(found) ?? amazonChannel(found) ?? amazonGroup(found),
  aurora: amazon,
  azure: ({ verb, channel }: Found) =>
    verb && channel === undefined ? `CALL mysql.az_replication_${verb.toLowerCase()};` : undefined,
  cloudsql: ({ verb, channel }: Found) =>
    verb && channel === undefined
      ? `gcloud sql instances patch REPLICA --${verb === 'STOP' ? 'no-' : ''}enable-database-replication;`
      : undefined,
} as const satisfies Partial<Record<Provider, (found: Found) => string | undefined>>;

function amazon({ id, query, kill, expiry, verb, channel }: Found): string | undefined {
  if (id) return `concat('CALL mysql.rds_kill${query ? '_query' : ''}(', ${id}, ');')`;
  if (kill) return '-- CALL mysql.rds_kill(id) for the session';
  if (expiry) return "(CALL mysql.rds_set_configuration('binlog retention hours', 168); for a week)";
  return verb && channel === undefined ? `CALL mysql.rds_${verb.toLowerCase()}_replication;` : undefined;
}

function amazonChannel({ verb, channel }: Found): string | undefined {
  return verb && `CALL mysql.rds_${verb.toLowerCase()}_replication_for_channel(${channel});`;
}

function amazonGroup({ group, login }: Found): string | undefined {
  if (!group) return undefined;
  const set = login ? "CALL mysql.rds_group_replication_set_recovery_channel('password'); " : '';
  return group === 'STOP'
    ? 'CALL mysql.rds_group_replication_stop();'
    : `${set}CALL mysql.rds_group_replication_start(0);`;
}
