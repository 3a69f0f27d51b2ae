import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Provider } from '../../vocabulary/hosted/providers.ts';
import { hostedSetting } from './hosted-setting.ts';

/** The arguments that a shell passes to the tool of the provider. */
function passed(tool: string, remediation: string): string[] {
  const command = remediation
    .slice(remediation.lastIndexOf(`${tool} `))
    .replace(/ \(if .*| It takes effect .*| The command restarts .*| If .*/s, '');
  const script = `${tool}() { printf '%s\\n' "$@"; }\n${command}`;
  return execFileSync('sh', ['-e', '-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
}

test.each<[Provider, string, string]>([
  ['rds', 'aws', "ParameterName=max_connections,ParameterValue='5',ApplyMethod=pending-reboot"],
  ['aurora', 'aws', "ParameterName=max_connections,ParameterValue='5',ApplyMethod=pending-reboot"],
  ['cloudsql', 'gcloud', '--database-flags=^;^OTHER_FLAGS;max_connections=5'],
  ['alloydb', 'gcloud', '--database-flags=^;^OTHER_FLAGS;max_connections=5'],
  ['azure', 'az', '5'],
  ['supabase', 'supabase', 'max_connections=5'],
  ['digitalocean', 'doctl', '{"max_connections": 5}'],
  ['aiven', 'avn', 'pg.max_connections=5'],
])('%s: a shell passes the value to the tool as one argument', (provider, tool, last) => {
  const wanted = { engine: 'postgres', name: 'max_connections', value: 5, restart: true } as const;
  expect(passed(tool, hostedSetting(provider, wanted)).at(-1)).toBe(last);
});
