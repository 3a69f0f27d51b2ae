import { spawnSync } from 'node:child_process';

/** promtool's complaints; empty when everything is valid. */
export function promtool(cwd: string, args: string[], input = ''): string[] {
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', args, { cwd, input, encoding: 'utf8' });
  const said = (status === 0 ? stderr : stdout + stderr).trim();
  return status === 0 && said === '' ? [] : [`promtool ${args.join(' ')}: ${said}`];
}
