import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations/nagios');
const PLUGINS = '/usr/lib/nagios/plugins';

/** The commands of `commands.cfg`, with check_curl and with check_http, while two databases are critical. */
export function askAsNagios(service: SampleService): string[] {
  needPackages('monitoring-plugins-basic', 'monitoring-plugins-standard', 'liburiparser1', 'curl', 'jq');
  const commands = commandsOf(service);
  const wrong: string[] = [];
  for (const program of ['check_curl', 'check_http']) {
    const run = (name: string, args: string[], exit: number, says: RegExp) => {
      const line = commands(name, args).replaceAll('check_curl', program);
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' });
      if (status !== exit || !says.test(stdout)) {
        wrong.push(`${name} with ${program} gave ${status}, expected ${exit}: ${stdout}${stderr}`);
      }
    };
    const { port } = new URL(service.origin);
    run('check_dbvitals_ready', [port], 0, /^HTTP OK/);
    run('check_dbvitals_api', [port], 0, /^HTTP OK.*401/);
    run(
      'check_dbvitals_no_critical',
      [port],
      2,
      /^HTTP CRITICAL.*200 OK.*pattern not found|^HTTP CRITICAL.*pattern/,
    );
    run('check_dbvitals_fleet', [service.origin], 2, /^DBVITALS CRITICAL - \w.* 49.*\|.*critical=1;;;0;11/);
    run('check_dbvitals_fleet', ['http://127.0.0.1:1'], 3, /^DBVITALS UNKNOWN - curl: \(7\)/);
  }
  return wrong;
}

/** A command's line with Nagios's macros and files of /etc replaced. */
function commandsOf(service: SampleService): (name: string, args: string[]) => string {
  const folder = service.folder('nagios');
  const ini = readFileSync(join(PAGES, 'dbvitals.ini'), 'utf8').replace('<API_KEY>', service.key);
  writeFileSync(join(folder, 'dbvitals.ini'), ini, { mode: 0o600 });
  const header = `Authorization: Bearer ${service.key}\n`;
  writeFileSync(join(folder, 'dbvitals.header'), header, { mode: 0o600 });
  const lines = [
    ...readFileSync(join(PAGES, 'commands.cfg'), 'utf8').matchAll(
      /command_name +(\w+)\n +command_line +(.+)/g,
    ),
  ];
  return (wanted, args) => {
    const line = lines.find(([, name]) => name === wanted)?.[2];
    if (line === undefined) throw new Error(`commands.cfg has no ${wanted}.`);
    return line
      .replace('$USER1$/check_dbvitals', `"${PAGES}/check_dbvitals"`)
      .replaceAll('$USER1$', PLUGINS)
      .replaceAll('$HOSTADDRESS$', '127.0.0.1')
      .replace(/\/etc\/monitoring-plugins\/(\S+)/, (_, file) => `'${join(folder, file)}'`)
      .replace(/\$ARG(\d)\$/g, (_, at) => args[Number(at) - 1] ?? '');
  };
}
