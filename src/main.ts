#!/usr/bin/env node
import { join } from 'node:path';
import { Command } from 'commander';
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Cell, type Cells, openCells, placeOf, storeNumbers } from './cells/open-cells.ts';
import { upgradeCells } from './cells/upgrade-cells.ts';
import { addCommands } from './cli/add-commands.ts';
import { countOf, textOf } from './cli/arguments.ts';
import { cellForNew, cellOfCommand, cellOption, cellsOfCommand } from './cli/cells/command-cells.ts';
import { addCommand, type CommandContext, type StoreWork } from './cli/command.ts';
import { addConcurrencyOption } from './cli/commands/monitor-command.ts';
import type { ServeOptions } from './cli/commands/serve-command.ts';
import { reportError } from './cli/report-error.ts';
import { apiKey, type Config, loadConfig } from './config/config.ts';
import { version } from './config/package-root.ts';
import { secretKeys } from './config/secret-key.ts';
import { openPool, type StoreAddress, WORK_DEADLINE_MS } from './database/connect.ts';
import type { SecretKeys } from './database/encryption.ts';
import { joinStore } from './database/open.ts';
import type { PlannedMigration } from './database/plan-migrations.ts';
import { consoleUrl } from './server/listen.ts';

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
  if (process.stderr.isTTY) process.stderr.write(`${step} …\n`);
}

// Modules that only some commands need are loaded by those commands. The others start in half the time.
const context: CommandContext = {
  withStore: (work) => withCells(async (cells) => workIn(cells, await cellOfCommand(cells, running), work)),
  withStoreForNew: (work) =>
    withCells(async (cells) => workIn(cells, await cellForNew(cells, running), work)),
  withEachStore: (work) =>
    withCells(async (cells) => {
      const done: Awaited<ReturnType<typeof work>>[] = [];
      for await (const cell of cellsOfCommand(cells, running)) done.push(await workIn(cells, cell, work));
      return done;
    }),
  async withConsoleRole(work) {
    return withCells(async (cells) => {
      const { store } = await cellOfCommand(cells, running);
      const reader = openPool(store.address, 'console', { max: 2, pipeline: true });
      return work(reader).finally(() => reader.end());
    });
  },
  async withCells(work) {
    const cells = await openCells(config(), say, 'refuse');
    try {
      if (!cells.hasDirectory)
        throw new Error(
          'There is one store, and accounts have nowhere to move: name cells in DBVITALS_CELLS_FILE.',
        );
      const limits = { max: 2, statementTimeout: WORK_DEADLINE_MS };
      const control = openPool(cells.control.address, 'owner', limits);
      const addressOf = async (cellId: number) => (await cells.open(cellId)).store.address;
      const cellIds = cells.places.map(({ id }) => id);
      return await work({ control, cellIds, addressOf }).finally(() => control.end());
    } finally {
      await cells.close();
    }
  },
  apiKey: () => apiKey(config()),
  consoleUrl: () => consoleUrl(config(), config().port),
  async migrate() {
    return upgradeCells(config(), say);
  },
  async planMigrations() {
    const { planMigrations } = await import('./database/plan-migrations.ts');
    const planned: PlannedMigration[] = [];
    for (const number of storeNumbers(config())) {
      const { name, ...place } = placeOf(config(), number);
      const store = await joinStore(place, say, 'refuse');
      const pending = await planMigrations(store.address).finally(store.close);
      planned.push(
        ...pending.map((one) => (number === null ? one : { ...one, name: `${one.name} in ${name}` })),
      );
    }
    return planned;
  },
  async diagnose() {
    const { diagnose } = await import('./doctor/doctor.ts');
    return diagnose(say);
  },
  async backUp(target) {
    const { backUp } = await import('./database/backup/backup.ts');
    return recordedBackup((address) => backUp(address, target, version, secretKeys(config())[0]));
  },
  async backUpIntoFolder(folder, keep) {
    const { backUp } = await import('./database/backup/backup.ts');
    const { backUpIntoFolder } = await import('./database/backup/backup-folder.ts');
    const [secretKey] = secretKeys(config());
    return recordedBackup((address) =>
      backUpIntoFolder(folder, keep, secretKey, (file) => backUp(address, file, version, secretKey)),
    );
  },
  async restore(file, how) {
    const { restoreStore } = await import('./cli/restore-store.ts');
    return restoreStore(config(), placeOf(config(), cellOption(running)), file, how, say);
  },
  openSecret,
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
    return rotateSecretKey(owner, await openSecret(owner), forgetLost);
  },
  async runHealthCheck(writer, connection, show) {
    const { checkNow } = await import('./monitor/schedule.ts');
    const stored = await checkNow({ ...(await monitorParts(writer, 'silent')), show }, connection);
    if (stored) return stored;
    throw new Error(`Connection ${connection.connectionId} was removed during its health check.`);
  },
  async checkOnce({ connection_type: connectionType, thresholds, ...address }, show) {
    const { measureInChild } = await import('./monitor/measure-in-child.ts');
    const { score, summaryText, worstFirst } = await import('./checks/score.ts');
    const { allowPrivateTargets } = config();
    const target = { ...address, connectionType, tunnel: null };
    const job = { target, instructions: { allowPrivateTargets, thresholds } };
    const { outcomes, cost } = await measureInChild(job, new AbortController().signal, { show });
    const checks = worstFirst(outcomes).map(({ database: _d, object: _o, measured: _m, ...shown }) => shown);
    return { score: score(outcomes, []), summary_text: summaryText(outcomes), checks, cost };
  },
  async monitor(concurrency, until) {
    const { monitorCells } = await import('./cli/cells/monitor-cell.ts');
    const { pino } = await import('pino');
    const log = pino({ level: config().logLevel }, pino.destination(2));
    for (const sentence of config().misspelt) log.warn(sentence);
    await withCells(async (cells) => {
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

/** Opens the stores of the settings while `work` runs. */
async function withCells<T>(work: (cells: Cells) => Promise<T>): Promise<T> {
  const cells = await openCells(config(), say, 'refuse');
  return work(cells).finally(cells.close);
}

/** Runs a command's work in a cell. */
async function workIn<T>(cells: Cells, cell: Cell, work: StoreWork<T>): Promise<T> {
  const control = openPool(cells.control.address, 'writer', { max: 2 });
  const writer = cells.openPool(cell, 'writer', { max: 2 }, control);
  const pools = [writer, control];
  const openOwner = () => {
    const owner = openPool(cell.store.address, 'owner', { max: 1 });
    pools.push(owner);
    return owner;
  };
  try {
    return await work(writer, openOwner, cells.hasDirectory ? cell.id : null);
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}

/** Backs up the configured store and records the result in it. */
async function recordedBackup<T extends { bytes: number }>(backUp: (address: StoreAddress) => Promise<T>) {
  const { recordBackup } = await import('./database/backup/last-backup.ts');
  const { dataDir, givenSecret } = config();
  const { name, ...place } = placeOf(config(), cellOption(running));
  const store = await joinStore(place, say, 'refuse');
  if (config().cells) store.description = store.description.replace('DATABASE_URL', name);
  const unrecorded = (why: string) =>
    process.stderr.write(
      `The result of the backup could not be recorded in the store, so "dbvitals doctor" does not report it: ${why}\n`,
    );
  const made = await recordBackup(store.address, () => backUp(store.address), unrecorded).finally(
    store.close,
  );
  const secret_at = givenSecret ? 'DBVITALS_SECRET_KEY' : join(dataDir, 'secret.key');
  return { ...made, store: store.description, secret_at };
}

async function monitorParts(writer: pg.Pool, level: string) {
  const { pino } = await import('pino');
  const { allowPrivateTargets, tokenCommands } = config();
  const log = pino({ level }, pino.destination(2));
  return { writer, secret: await openSecret(writer, log), allowPrivateTargets, tokenCommands, log };
}

/** Returns the keys of DBVITALS_SECRET_KEY, after binding passwords of an earlier version to the settings of their connections. */
async function openSecret(store: pg.Pool, log?: Logger): Promise<SecretKeys> {
  const { bindAtStart } = await import('./connections/bind-credentials.ts');
  const secret = secretKeys(config());
  const tell = (_: unknown, message: string) => process.stderr.write(`${message}\n`);
  await bindAtStart(store, secret, log ?? { info: tell, error: tell });
  return secret;
}

const program = new Command('dbvitals')
  .description('Watches databases, turns findings into tickets, and answers through a read-only JSON API.')
  .version(version)
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
  isService = ['serve', 'monitor'].includes(command.name());
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
    const { serve } = await import('./cli/commands/serve-command.ts');
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
