#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import type pg from 'pg';
import { addCommands } from './cli/add-commands.ts';
import { countOf, textOf } from './cli/arguments.ts';
import { addCommand, type CommandContext } from './cli/command.ts';
import { addConcurrencyOption } from './cli/commands/monitor-command.ts';
import { reportError } from './cli/report-error.ts';
import { buildVersion } from './config/build-version.ts';
import { apiKey, type Config, loadConfig, loadMetricSettings } from './config/config.ts';
import { secretKeys } from './config/secret-key.ts';
import { consoleUrl } from './config/service-url.ts';
import { expectHangup } from './service/reload-on-hangup.ts';
import type { ServeOptions } from './service/serve.ts';
import { readServiceAddress } from './service/service-address.ts';
import { stepLine } from './service/step-line.ts';

// Hides a password in --url from the process list as soon as the program starts.
const typed = process.argv.slice(2).join(' ');
const shown = typed.replace(/(:\/\/[^:@/\s]*):\S*@/g, '$1:***@'); // a process list may support only ASCII
if (shown !== typed) process.title = `dbvitals ${shown}`;

// A service writes only to its log, one JSON object per line.
let isService = false;

/** The command that runs. */
let running: Command | null = null;

let loaded: Config | undefined;
function config(): Config {
  if (loaded) return loaded;
  loaded = loadConfig();
  if (!isService) for (const sentence of loaded.misspelt) process.stderr.write(`warning: ${sentence}\n`);
  return loaded;
}

/** Shows on a terminal what a command waits for, such as the start of PostgreSQL. Writes nothing to a pipe. */
function say(step: string): void {
  if (process.stderr.isTTY) process.stderr.write(stepLine(step));
}

// Modules that only some commands need are loaded by those commands. The others start in half the time.
const context: CommandContext = {
  withStore: async (work) => (await stores()).withStore(work),
  withStoreForNew: async (work) => (await stores()).withStoreForNew(work),
  withEachStore: async (work) => (await stores()).withEachStore(work),
  withReachableStores: async (work) => (await stores()).withReachableStores(work),
  withConsoleRole: async (work) => (await stores()).withConsoleRole(work),
  withCells: async (work) => (await stores()).withCells(work),
  planMigrations: async () => (await stores()).planMigrations(),
  apiKey: () => apiKey(config()),
  metricSettings: loadMetricSettings,
  consoleUrl() {
    const { databaseUrl, dataDir, port } = config();
    // The service may have been started with another PORT than this command.
    return (databaseUrl === null ? readServiceAddress(dataDir) : null) ?? consoleUrl(config(), port);
  },
  async migrate() {
    const { upgradeCells } = await import('./store/directory/upgrade-cells.ts');
    return upgradeCells(config(), say);
  },
  async diagnose() {
    const { diagnose } = await import('./cli/doctor/doctor.ts');
    return diagnose(say);
  },
  async backUp(to) {
    const { backUpStore } = await import('./cli/store/back-up-store.ts');
    const { cellOption } = await import('./cli/cells/command-cells.ts');
    return backUpStore(config(), cellOption(running), to, say);
  },
  async backUpEach(to) {
    const { backUpEachStore } = await import('./cli/store/back-up-store.ts');
    return backUpEachStore(config(), to, say);
  },
  async verifyBackup(file, how) {
    const { verifyBackup } = await import('./cli/store/verify-backup.ts');
    return verifyBackup(config(), file, how);
  },
  async restore(file, how) {
    const { restoreStore } = await import('./cli/store/restore-store.ts');
    const { cellOption } = await import('./cli/cells/command-cells.ts');
    const { placeOf } = await import('./store/directory/open-cells.ts');
    return restoreStore(config(), placeOf(config(), cellOption(running)), file, how, say);
  },
  async openSecret(writer, openOwner) {
    const { openOwnSecret } = await import('./cli/store/open-secret.ts');
    return openOwnSecret(config(), writer, openOwner);
  },
  allowsPrivateDestinations: () => config().allowPrivateDestinations,
  tokenSources() {
    return Object.keys(config().tokenCommands);
  },
  ownPlaces() {
    const { dataDir, secretsDir } = config(); // reads .env
    return { environment: process.env, dataDir, secretsDir };
  },
  async rotateSecretKey(owner, forgetLost) {
    const { rotateSecretKey } = await import('./connections/rotate-secret-key.ts');
    const { openSecret } = await import('./cli/store/open-secret.ts');
    return rotateSecretKey(owner, await openSecret(config(), owner), forgetLost);
  },
  async runHealthCheck(writer, connection, show) {
    const { checkNow } = await import('./monitor/schedule.ts');
    const stored = await checkNow({ ...(await monitorParts(writer, 'silent')), show }, connection);
    if (stored) return stored;
    throw new Error(`Connection ${connection.connectionId} was removed during its health check.`);
  },
  async tryOwnCheck(writer, connection, tried) {
    const { tryOwnCheck } = await import('./monitor/own-checks/try-own-check.ts');
    const deps = { ...(await monitorParts(writer, 'silent')), actor: { actor: 'command line' } };
    return tryOwnCheck(deps, connection, tried);
  },
  async lookAt(writer, connection, work) {
    const { openLiveLook } = await import('./monitor/pulse/live-look.ts');
    const live = await openLiveLook(await monitorParts(writer, 'silent'), connection);
    if (!live) throw new Error(`Connection ${connection.connectionId} was removed.`);
    return work(live.look).finally(() => live.end());
  },
  async checkOnce({ connection_type: connectionType, thresholds, own, ...address }, show) {
    const { measureInChild } = await import('./monitor/children/measure-in-child.ts');
    const { score, summaryText, worstFirst } = await import('./checks/score.ts');
    const { allowPrivateTargets } = config();
    const target = { ...address, connectionType, tunnel: null };
    const job = { target, instructions: { allowPrivateTargets, thresholds, own } };
    const { outcomes, cost } = await measureInChild(job, new AbortController().signal, { show });
    const checks = worstFirst(outcomes).map(({ database: _d, object: _o, measured: _m, ...shown }) => shown);
    return { score: score(outcomes, []), summary_text: summaryText(outcomes), checks, cost };
  },
  async monitor(concurrency, until) {
    const { monitorCells } = await import('./service/monitor-cell.ts');
    const { pino } = await import('pino');
    const { openPool, WORK_DEADLINE_MS } = await import('./store/connect.ts');
    const { withOpenCells } = await import('./cli/cells/store-work.ts');
    const log = pino({ level: config().logLevel }, pino.destination(2));
    for (const sentence of config().misspelt) log.warn(sentence);
    await withOpenCells({ config: config(), say }, async (cells) => {
      const secret = secretKeys(config());
      const control = openPool(cells.control.address, 'writer', {
        max: 2,
        statementTimeout: WORK_DEADLINE_MS,
      });
      const parts = { config: config(), secret, control, concurrency, log, until };
      await monitorCells(cells, parts).finally(() => control.end());
    });
    log.info('the monitor has stopped');
  },
  async loadAuditProof() {
    const { auditProof } = await import('./cli/audit-proof.ts');
    return auditProof(config());
  },
  async loadCatalogue() {
    const { everyCheck } = await import('./checks/catalogue.ts');
    const { score, summaryText } = await import('./checks/score.ts');
    return { checks: everyCheck, score: (outcomes) => score(outcomes, []), summaryText };
  },
};

async function stores() {
  const { storeContext } = await import('./cli/cells/store-work.ts');
  return storeContext({ config: config(), say, running });
}

async function monitorParts(writer: pg.Pool, level: string) {
  const { pino } = await import('pino');
  const { openSecret } = await import('./cli/store/open-secret.ts');
  const { allowPrivateTargets, tokenCommands } = config();
  const log = pino({ level }, pino.destination(2));
  return { writer, secret: await openSecret(config(), writer, log), allowPrivateTargets, tokenCommands, log };
}

const program = new Command('dbvitals')
  .description('Watches databases, turns findings into tickets, and answers through a read-only JSON API.')
  .option('-V, --version', 'output the version number')
  .on('option:version', () => {
    process.stdout.write(`${buildVersion()}\n`);
    throw new CommanderError(0, 'commander.version', '');
  })
  .enablePositionalOptions() // `--version` of a command is its own
  .exitOverride()
  .configureOutput({
    // One line, without the value of a mistyped option, because it may be a secret.
    outputError: (text, write) =>
      write(
        `${text
          .trim()
          .replace(/\s+/g, ' ')
          .replace(/(--[^\s=']+)=[^']*/, '$1')
          .replace(/\.$/, '')}: see --help.\n`,
      ),
  });

program.hook('preAction', (_, command) => {
  running = command;
  isService = ['serve', 'monitor', 'collect'].includes(command.name());
  if (!isService) return;
  expectHangup(); // also in a service that has no files to read again
  process.title = `dbvitals ${shown}`;
});

program.commandsGroup('Serve:');
addConcurrencyOption(addCommand(program, 'serve', 'run the API, the console and the monitor'))
  .option('--host <H>', 'address to listen on (default: HOST, else 127.0.0.1)', textOf('--host'))
  .option(
    '--port <N>',
    'port to listen on, 0 for any free port (default: PORT, else 8080)',
    countOf('--port', 0, 65_535),
  )
  .option('--no-monitor', 'run no health checks')
  .action(async (options: ServeOptions & { host?: string; port?: number }) => {
    const { host = config().host, port = config().port, ...rest } = options;
    const { serve } = await import('./service/serve.ts');
    await serve({ ...config(), host, port }, rest);
  });
await addCommands(program, context, process.argv[2]);
program.helpCommand('help [command]', 'display help for a command');

// If the reader closes the pipe, the command still finishes its work.
let unwritten: unknown = null;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || unwritten !== null) return;
  unwritten = error;
  process.exitCode = reportError(
    new Error(`Can't write to standard output (${error.code}): the output is incomplete.`),
  );
});

try {
  await program.parseAsync();
} catch (error) {
  if (error !== unwritten) process.exitCode = reportError(error);
}
