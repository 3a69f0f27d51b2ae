import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { quoted } from '../../src/checks/mysql/quote.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import { needPackages } from '../clients/debian.ts';
import { freePort } from '../contract/free-port.ts';
import { MysqlServer } from '../mysql/mysql-server.ts';
import { pastedLogin, pastedSql } from '../support/pasted-sql.ts';
import { compare, type PeerAnswer } from './compare.ts';
import { AT_ONCE, alter, BROKEN, hold, load, MADE, seed, TUNER } from './seed-mariadb.ts';
import { type Known, mysqltuner, variableAdvisor } from './tools-mariadb.ts';

// Gives a MariaDB all faults that can exist together, runs mysqltuner, pt-variable-advisor, pt-duplicate-key-checker
// and dbvitals on it, and compares their findings.

const CLUSTERED = 'InnoDB appends the primary key to every other one: without it here none would be smaller';

needPackages('mysqltuner', 'percona-toolkit', 'mariadb-client');
requireKnownRules();
const port = await freePort();
const network = { 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port: String(port) };
const server = await MysqlServer.start({ ...BROKEN, ...network });
try {
  await comparePeers();
} finally {
  await server.stop();
}
process.exit(); // sessions of the faults still wait for the stopped server

/** Throws when pt-variable-advisor has an unknown rule. The manual at the end of its file lists the rules. */
function requireKnownRules(): void {
  const file = spawnSync('which', ['pt-variable-advisor'], { encoding: 'utf8' }).stdout.trim();
  const [, rules = ''] = /^=head1 RULES$([\s\S]*?)^=head1 OPTIONS$/m.exec(readFileSync(file, 'utf8')) ?? [];
  const names = [...rules.matchAll(/^=item (\S+)$/gm)].map(([, name = '']) => name);
  const unknown = names.filter((name) => !(name in variableAdvisor));
  if (names.length === 0 || unknown.length > 0) {
    throw new Error(
      `pt-variable-advisor has rules that tools-mariadb.ts does not know: ${unknown.join(', ')}.`,
    );
  }
}

async function comparePeers(): Promise<void> {
  await server.run(pastedSql('MariaDB').flat());
  await seed(server);
  const first = await run([]);
  const began = Date.now();
  await load(server, port);
  await hold(server);
  const theirs = askAll();
  await alter(server);
  const second = await run(first.samples, (Date.now() - began) / 1_000);
  const findings = second.outcomes.flatMap((outcome) => outcome.findings);
  const { lines, missed } = compare(
    theirs,
    findings,
    MADE.map((check_id) => ({ check_id, object: null })),
  );
  console.log(lines.join('\n'));
  if (missed > 0) process.exitCode = 1;
}

function run(before: Measured['samples'], seconds = 0): Promise<Measured> {
  const target = pastedLogin({ engine: 'mariadb', host: server.socket, port, database: '' });
  return measure(target, {
    allowPrivateTargets: true,
    thresholds: AT_ONCE,
    before: before.map(({ after: _after, ...sample }) => ({ ...sample, seconds })),
    signal: new AbortController().signal,
  });
}

function askAll(): PeerAnswer[] {
  const { user, password } = TUNER;
  const login = ['--host=127.0.0.1', `--port=${port}`, `--user=${user}`, `--pass=${password}`];
  const silent = ['--nocolor', '--nogood', '--noinfo', '--noprocess', '--dbstat', '--tbstat', '--idxstat'];
  const asRoot = ['--no-version-check', `S=${server.socket},u=${userInfo().username}`];
  const lines = ask('mysqltuner', [...login, ...silent]).matchAll(/^\[!!\] +(.*)$/gm);
  const rules = ask('pt-variable-advisor', asRoot).matchAll(/^# (?:NOTE|WARN|CRIT) (\S+): /gm);
  const doubles = ask('pt-duplicate-key-checker', ['--databases=shop', ...asRoot]).matchAll(
    /^ALTER TABLE (\S+) DROP INDEX (`[^`]+`)(, ADD INDEX)?/gm,
  );
  return [
    ...[...lines].map(([, line = '']) => {
      const [said, known] = mysqltuner.find(([pattern]) => pattern.test(line)) ?? [];
      const { schema, table, index } = said?.exec(line)?.groups ?? {};
      const object = [schema, table, index].filter((name) => name !== undefined);
      return answer('mysqltuner', line, known, quoted(...object));
    }),
    ...[...rules].map(([, rule = '']) => answer('pt-variable-advisor', rule, variableAdvisor[rule])),
    ...[...doubles].map(([, table = '', index = '', shorter]) => {
      const name = `${table}.${index}`;
      const known = shorter ? { argued: CLUSTERED } : { ours: ['MY_REDUNDANT_INDEX'] };
      return answer('pt-duplicate-key-checker', name, known, name);
    }),
  ];
}

function ask(program: string, args: string[]): string {
  const { status, signal, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
  // mysqltuner 1.9.9 fails on a MariaDB of 2024 or later when it computes InnoDB's read efficiency.
  if (status === 0 || stderr.includes('Illegal division by zero')) return stdout;
  throw new Error(`${program} ended with ${signal ?? status}: ${stderr || stdout.slice(-500)}`);
}

/** An alarm of a peer, and the object that our finding must be about too. */
function answer(tool: string, name: string, { ours = [], argued }: Known = {}, object = ''): PeerAnswer {
  const objects = object === '' ? undefined : /^(.+)$/gm;
  const service = { name, args: [], ours, ...(argued && { argued }), ...(objects && { objects }) };
  return { tool, service, status: 1, said: object };
}
