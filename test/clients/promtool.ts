import { spawnSync } from 'node:child_process';

/** What promtool objects to; nothing when all is well. */
export function promtool(cwd: string, args: string[], input = ''): string[] {
  const { status, stdout, stderr } = spawnSync('/usr/bin/promtool', args, { cwd, input, encoding: 'utf8' });
  const said = (status === 0 ? stderr : stdout + stderr).trim();
  return status === 0 && said === '' ? [] : [`promtool ${args.join(' ')}: ${said}`];
}
