import type { Command } from 'commander';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { requireSettingsOf } from '../../connections/connection-settings.ts';
import { changedThresholds, type ThresholdChanges } from '../../connections/connection-thresholds.ts';
import { agreedTls, requireAuthority, tlsOf } from '../../connections/connection-tls.ts';
import { type DatabaseAddress, parseConnectionUrl } from '../../connections/connection-url.ts';
import { requireOrderWithDefaults } from '../../connections/thresholds/require-order.ts';
import type { Progress } from '../../monitor/progress.ts';
import { ENGINE_NAMES, type Engine } from '../../vocabulary/engines.ts';
import { TLS_MODES, type TlsMode } from '../../vocabulary/tls-modes.ts';
import { idOf, oneOf } from '../arguments.ts';
import { addCommand, type CheckedOnce, type CommandContext } from '../command.ts';
import {
  addThresholdOption,
  authorityOf,
  CA_FILE,
  CA_NAME,
  EXPOSE_PASSWORD,
  readSettings,
} from '../connection-options.ts';
import { addOwnCheckCommands } from '../own-checks/own-check-command.ts';
import { addTryCommand } from '../own-checks/try-own-check-command.ts';
import { jsonLine } from '../print.ts';
import { printCheck, progressLine } from '../print-check.ts';
import { readPassword } from '../read-password.ts';
import { UsageError } from '../usage-error.ts';
import { addExplainCommand } from './explain-check-command.ts';

interface OnceOptions {
  tls?: TlsMode;
  passwordStdin?: boolean;
  caFile?: string;
  ca?: string;
  exposePassword?: 'yes' | 'no';
  threshold?: ThresholdChanges;
  /** A file of own checks. */
  own?: string;
}

interface RunOptions extends OnceOptions {
  connection?: number;
  url?: DatabaseAddress;
  json?: boolean;
}

/** The exit code of `check run --url`: 2 when anything is critical, 1 for a warning, else 0. */
function exitCodeOf(checks: CheckedOnce['checks']): number {
  if (checks.some(({ status }) => status === 'critical')) return 2;
  return checks.some(({ status }) => status === 'warning') ? 1 : 0;
}

async function runStored(
  context: CommandContext,
  connectionId: number,
  json: boolean | undefined,
): Promise<void> {
  const { cost, ...result } = await withProgress((show) =>
    context.withStore(async (writer) =>
      context.runHealthCheck(
        writer,
        { accountId: await ownerOfConnection(writer, connectionId), connectionId },
        show,
      ),
    ),
  );
  if (json) process.stdout.write(jsonLine(result));
  else printCheck({ ...result, cost });
}

async function runOnce(
  context: CommandContext,
  address: DatabaseAddress,
  { json, own, ...options }: OnceOptions & { json?: boolean },
): Promise<void> {
  const ownChecks = own === undefined ? [] : await readOwnChecks(own, address.engine);
  const settings = await readSettings(options, context);
  requireSettingsOf(address.engine, settings);
  const { thresholds = {}, caCertificate = null, passwordExposable = false } = settings;
  requireOrderWithDefaults(changedThresholds({}, thresholds));
  const tls = tlsOf(address.connection_type, agreedTls(options.tls, address.tls));
  requireAuthority(tls, caCertificate);
  const target = {
    ...address,
    tls,
    passwordExposable,
    password: await readPassword(options.passwordStdin, address.password),
    caCertificate,
    thresholds: changedThresholds({}, thresholds),
    own: ownChecks,
  };
  const { cost, ...result } = await withProgress((show) => context.checkOnce(target, show));
  if (json) process.stdout.write(jsonLine(result));
  else printCheck({ ...result, cost });
  process.exitCode = exitCodeOf(result.checks);
}

/** The own checks of a file that are for an engine. Throws if there is none: nothing would be checked. */
async function readOwnChecks(file: string, engine: Engine): Promise<OwnCheck[]> {
  const { readOwnCheckFile } = await import('../own-checks/own-check-file.ts');
  const own = readOwnCheckFile(file).filter((check) => check.engine === engine);
  if (own.length === 0) throw new UsageError(`The file of --own has no check for ${ENGINE_NAMES[engine]}.`);
  return own;
}

async function withProgress<T>(work: (show: (progress: Progress) => void) => Promise<T>): Promise<T> {
  const line = progressLine();
  try {
    return await work(line.show);
  } finally {
    line.end();
  }
}

const EXIT_CODES = `
With --connection, the result is stored and the exit code is 0 whatever the findings are.
With --url, nothing is stored and checks that compare two runs are skipped. The exit code
is then 1 if the worst finding is a warning, 2 if it is critical or the database can't be
reached, and 0 otherwise.`;

/** `check run`, `check explain`, `check try`, `check own`. */
export function addCheckCommands(program: Command, context: CommandContext): void {
  const group = program.command('check').description('run health checks, explain checks, and write own ones');
  addExplainCommand(group, context);
  addTryCommand(group, context);
  addOwnCheckCommands(group.command('own').description('manage own checks'), context);

  addThresholdOption(addCommand(group, 'run', 'run a health check now and print its findings, worst first'))
    .option('--connection <ID>', 'check this connection and store the result', idOf('--connection'))
    .option('--url <URL>', 'check this database once, and store nothing', parseConnectionUrl)
    .option(
      '--tls <T>',
      `with --url: ${TLS_MODES.join(', ')} (default: from the URL, or verify-full)`,
      oneOf('--tls', TLS_MODES),
    )
    .option('--password-stdin', 'with --url: read the password from standard input')
    .option('--ca-file <FILE>', `with --url: ${CA_FILE}`)
    .option('--ca <NAME>', `with --url: ${CA_NAME}`, authorityOf)
    .option(
      '--expose-password <yes|no>',
      `with --url: ${EXPOSE_PASSWORD}`,
      oneOf('--expose-password', ['yes', 'no']),
    )
    .option('--own <FILE>', 'with --url: also run the own checks of this YAML file')
    .addHelpText('after', EXIT_CODES)
    .action(async ({ connection, url, json, ...options }: RunOptions) => {
      if ((connection === undefined) === (url === undefined)) {
        throw new UsageError(
          'Give either --connection, or --url to check a database without storing anything.',
        );
      }
      if (url) return runOnce(context, url, { ...options, ...(json && { json }) });
      const [stray] = Object.keys(options);
      if (stray !== undefined) {
        throw new UsageError(
          '--tls, --password-stdin, --ca-file, --ca, --expose-password, --threshold and --own need --url: a connection has its own settings.',
        );
      }
      if (connection !== undefined) await runStored(context, connection, json);
    });
}
