import { one } from '../../store/one.ts';
import type { Read } from '../../store/read.ts';
import type { ConnectionThresholds } from '../connection-thresholds.ts';
import type { Override } from './effective-thresholds.ts';
import { listOverrides, listThresholdConnections, type ThresholdConnection } from './list-overrides.ts';

/** What a file of thresholds is made of. */
interface Exported {
  account: { name: string; plan: string; requests_per_minute: number | null };
  overrides: readonly Override[];
  connections: readonly Pick<ThresholdConnection, 'name' | 'thresholds'>[];
}

const selectAccount = 'select name, plan, requests_per_minute from account where account_id = $1';

/** The thresholds of an account as a file for `apply`; see {@link thresholdFile}. Throws if there is no such account. */
export async function exportThresholds(read: Read, accountId: number): Promise<string> {
  const [accounts, overrides, connections] = await Promise.all([
    read<Exported['account']>(selectAccount, [accountId]),
    listOverrides(read, accountId),
    listThresholdConnections(read, accountId),
  ]);
  return thresholdFile({ account: one(accounts, 'read the account'), overrides, connections });
}

/**
 * The thresholds of an account and its tags as a file for `apply`. Those of single connections are comments: in the file,
 * a connection needs its address too. Every name is a JSON string, which is also one of YAML, on one line.
 */
function thresholdFile({ account, overrides, connections }: Exported): string {
  const byTag = Map.groupBy(overrides, ({ tag }) => tag);
  const own = byTag.get('') ?? [];
  const tags = [...byTag].filter(([tag]) => tag !== '');
  const set = connections.filter(({ thresholds }) => Object.keys(thresholds).length > 0);
  const lines = [
    '# Thresholds for "dbvitals apply". Thresholds of the account that are not in this file are removed, and with --prune',
    '# those of other tags.',
    'accounts:',
    `  - name: ${quoted(account.name)}`,
    `    plan: ${account.plan}`,
    // Without it, "apply" would reset it.
    ...(account.requests_per_minute === null
      ? []
      : [`    requests_per_minute: ${account.requests_per_minute}`]),
    ...(own.length === 0 ? ['    thresholds: {}'] : ['    thresholds:', ...listed(nested(own), 6)]),
    ...(tags.length === 0 ? ['    tag_thresholds: {}'] : ['    tag_thresholds:']),
    ...tags.flatMap(([tag, of]) => [`      ${quoted(tag)}:`, ...listed(nested(of), 8)]),
    ...(set.length === 0 ? [] : ['# Of single connections, for "thresholds" of the connection:']),
    ...set.flatMap(({ name, thresholds }) => [
      `#     - name: ${quoted(name)}`,
      '#       thresholds:',
      ...listed(thresholds, 8).map((line) => `# ${line}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function nested(overrides: readonly Override[]): ConnectionThresholds {
  const found: Record<string, Record<string, number>> = {};
  for (const { check_id, name, value } of overrides) found[check_id] = { ...found[check_id], [name]: value };
  return found;
}

function listed(thresholds: ConnectionThresholds, indent: number): string[] {
  return Object.entries(thresholds).map(([id, named]) => {
    const values = Object.entries(named).map(([name, value]) => `${name}: ${written(value)}`);
    return `${' '.repeat(indent)}${id}: {${values.join(', ')}}`;
  });
}

/** A number as YAML reads one: `1e+15` is a text in some versions of it. */
function written(value: number): string {
  return Math.abs(value) >= 1e-6
    ? value.toLocaleString('en', { useGrouping: false, maximumFractionDigits: 20 })
    : value.toFixed(20);
}

// A line separator of Unicode ends a line of YAML 1.1, and of some editors.
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u0085\u2028\u2029]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
