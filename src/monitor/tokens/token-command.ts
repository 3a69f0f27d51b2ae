import { spawn } from 'node:child_process';
import { SETTING_NAMES } from '../../config/setting-names.ts';
import { textInQuotes } from '../../config/text-file.ts';
import type { TokenCommand, TokenCommands } from '../../config/token-commands.ts';
import type { Target } from '../session/session.ts';

/** No token was printed that can be used. The message is the end of a sentence and has nothing that the command printed. */
export class TokenFailed extends Error {}

/** Where a token is sent, and for whom. */
export interface TokenLogin {
  host: string;
  port: number;
  username: string;
}

const LIMITS = { milliseconds: 10_000, bytes: 16_384 };

// A token of 15 minutes must outlast a run of 2 minutes.
const MARGIN_MS = 3 * 60_000;
/** How long a token is kept whose end it does not say. */
const UNKNOWN_MS = 5 * 60_000;

interface Kept {
  token: Promise<string>;
  /** `Date.now()`; infinite while the command runs. */
  until: number;
}

const kept = new Map<string, Kept>();

/**
 * The token of a source for a login: the one that was printed last until shortly before it ends, or else a new one. Logins
 * that wait for the same token share one run of the command. Throws {@link TokenFailed}.
 */
export async function tokenOf(
  source: string,
  command: TokenCommand,
  login: TokenLogin,
  limits = LIMITS,
): Promise<string> {
  const key = keyOf(source, login);
  const known = kept.get(key);
  if (known && known.until > Date.now()) return known.token;
  const fresh: Kept = { token: printedBy(command, login, limits), until: Number.POSITIVE_INFINITY };
  kept.set(key, fresh);
  try {
    const token = await fresh.token;
    const ends = endOf(token);
    if (ends !== null && ends <= Date.now()) throw new TokenFailed('the token that it printed has expired');
    fresh.until = ends === null ? Date.now() + UNKNOWN_MS : ends - MARGIN_MS;
    return token;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}

/** Forgets a token that a server refused: the next run asks for a new one. */
export function forgetToken(source: string, login: TokenLogin): void {
  kept.delete(keyOf(source, login));
}

function keyOf(source: string, { host, port, username }: TokenLogin): string {
  return JSON.stringify([source, host, port, username]);
}

/** Whether a token of the command may be sent to a host. */
export function mayReach({ hosts }: TokenCommand, host: string): boolean {
  const name = host.toLowerCase();
  return hosts.some((pattern) => {
    const allowed = pattern.toLowerCase();
    return allowed.startsWith('*.') ? name.endsWith(allowed.slice(1)) : name === allowed;
  });
}

// Without a shell, so that no name of a host or a login can become a command.
function printedBy({ command }: TokenCommand, login: TokenLogin, limits: typeof LIMITS): Promise<string> {
  const [program = '', ...parts] = command.map((part) =>
    part.replace(/\{(host|port|username)\}/g, (_, name: keyof TokenLogin) => String(login[name])),
  );
  return new Promise((resolve, reject) => {
    const child = spawn(program, parts, {
      detached: true, // a group of its own, to end what the command started
      env: environment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    const end = (problem: string | null) => {
      clearTimeout(timer);
      if (child.pid !== undefined) killGroup(child.pid);
      child.stdout.destroy();
      if (problem === null) resolve(printed);
      else reject(new TokenFailed(problem));
    };
    const timer = setTimeout(
      () => end(`it did not end within ${limits.milliseconds / 1_000} s`),
      limits.milliseconds,
    );
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.length > limits.bytes) end(`it printed more than ${limits.bytes} bytes`);
    });
    child.once('error', (error: NodeJS.ErrnoException) =>
      end(`it could not be started (${error.code ?? 'unknown'})`),
    );
    child.once('close', (code, signal) => {
      if (code !== 0) return end(code === null ? `${signal} ended it` : `it exited with code ${code}`);
      printed = printed.replace(/\r?\n$/, '');
      if (printed === '') return end('it printed nothing');
      if (textInQuotes(printed) !== null)
        return end('it printed text in quotes: choose an output without them');
      end(/^[\x21-\x7e]+$/.test(printed) ? null : 'it printed more than one line of text without spaces');
    });
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {} // it has ended
}

/** The service's environment, for the command's own settings, without the service's own and the store's. */
function environment(): NodeJS.ProcessEnv {
  const own = new Set<string>(SETTING_NAMES);
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !own.has(name) && !/^(?:DBVITALS_|PG|OTEL_)/.test(name)),
  );
}

/** When a token ends, in milliseconds since 1970: AWS signs it into the token, a JWT has it as `exp`. Null = unknown. */
function endOf(token: string): number | null {
  const [, at] = /[?&]X-Amz-Date=(\d{8}T\d{6}Z)/.exec(token) ?? [];
  const [, seconds] = /[?&]X-Amz-Expires=(\d{1,6})(?:&|$)/.exec(token) ?? [];
  if (at !== undefined && seconds !== undefined) {
    const began = at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
    return Date.parse(began) + Number(seconds) * 1_000;
  }
  const [, claims] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (claims === undefined) return null;
  try {
    const { exp }: { exp?: unknown } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return typeof exp === 'number' ? exp * 1_000 : null;
  } catch {
    return null;
  }
}

/** The token with which to log in to a target, from the operator's command of this name. Throws {@link TokenFailed}. */
export function tokenFor(source: string, commands: TokenCommands, target: Target): Promise<string> {
  const command = Object.hasOwn(commands, source) ? commands[source] : undefined;
  if (!command) throw new TokenFailed('DBVITALS_TOKEN_COMMANDS_FILE has no token source of this name');
  if (target.tls !== 'verify-full')
    throw new TokenFailed('a token is sent over verified TLS only (--tls verify-full)');
  if (!mayReach(command, target.host)) throw new TokenFailed(`its "hosts" do not include ${target.host}`);
  return tokenOf(source, command, target);
}
