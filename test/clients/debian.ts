import { spawnSync } from 'node:child_process';

/** Installs missing Debian packages. Throws one sentence when it can't. */
export function needPackages(...packages: string[]): void {
  const missing = () => packages.filter((name) => !isInstalled(name));
  if (missing().length === 0) return;
  // RUNLEVEL stops Debian from starting services, which would take ports and keep running.
  const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages];
  for (const args of [['update', '-qq'], install]) spawnSync('apt-get', args, { stdio: 'ignore', env });
  const left = missing().join(' ');
  if (left === '') return;
  throw new Error(
    `Install what is missing as root on Debian, with "apt-get install ${left}", and run this again.`,
  );
}

function isInstalled(name: string): boolean {
  const { stdout } = spawnSync('dpkg-query', ['--status', name], { encoding: 'utf8' });
  return /^Status: install ok installed$/m.test(stdout ?? '');
}
