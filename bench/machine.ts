import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';

/** The lines that describe the machine and the measured version. */
export function describeMachine(postgresVersion: string): string[] {
  return [
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, ${type()} ${release()}`,
    `Node ${process.version.slice(1)}, PostgreSQL ${postgresVersion}, dbvitals ${commit()}`,
    new Date().toISOString().slice(0, 10),
  ];
}

function commit(): string {
  const git = (...command: string[]) =>
    execFileSync('git', command, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '../src', '../migrations', '../package.json');
    return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : ' with uncommitted changes');
  } catch {
    return 'unknown commit';
  }
}
