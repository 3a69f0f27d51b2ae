import { execFileSync } from 'node:child_process';

/** A server that a client program can reach. */
export interface Reachable {
  /** The path of its Unix socket. */
  socket: string;
  /** The client program; `mariadb` by default. */
  client?: string;
  /** The superuser; by default the user who runs the tests. */
  superuser?: string;
  /** The superuser's password; none by default. */
  password?: string;
}

/**
 * Runs a remediation like a person who pastes it: in the server's own command-line client, unchanged. Returns what the
 * client printed, a row per line; throws with the server's error if a statement failed.
 */
export function paste(
  { socket, client = 'mariadb', superuser, password = '' }: Reachable,
  remediation: string,
  database = '',
): string {
  const user = superuser === undefined ? [] : [`--user=${superuser}`];
  const connect = ['--no-defaults', `--socket=${socket}`, ...user, '--default-character-set=utf8mb4'];
  const options = [...connect, '--batch', '--skip-column-names', '--raw'];
  return execFileSync(client, [...options, ...(database === '' ? [] : [database])], {
    input: `${remediation}\n`,
    encoding: 'utf8',
    env: { ...process.env, MYSQL_PWD: password },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}
