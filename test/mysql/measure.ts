import type mysql from 'mysql2/promise';
import type { Check, Thresholds } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import { type JudgementInput, judgementOf } from '../../src/checks/judgement-of.ts';
import { versionNumber } from '../../src/checks/mysql/flavour.ts';
import { rowsOf } from '../../src/checks/rows.ts';
import { expectHarmless } from '../support/expect-harmless.ts';
import { expectHosted } from '../support/expect-hosted.ts';
import { expectLevels } from '../support/expect-levels.ts';
import { expectMeasures } from '../support/expect-measures.ts';
import { type SeenJudgement, seen } from '../support/seen-judgement.ts';
import type { Login, MysqlServer } from './mysql-server.ts';
import { dialect, ENGINE } from './tested-server.ts';

type Facts = Pick<JudgementInput, 'thresholds' | 'before' | 'expectedStandbys' | 'queries' | 'provider'>;

/** Runs a check as the monitor does: READ ONLY, with timeouts. Its measures must be right, and its texts be such as a hosted server allows. */
export async function measure(
  server: MysqlServer,
  check: Check,
  facts: Facts = {},
  login: Login = 'watcher',
): Promise<SeenJudgement> {
  const { rows, facts: given, answers } = await judgeable(server, check, facts, login);
  const judgement = seen(judgementOf(check, rows, given));
  expectMeasures(check, judgement);
  expectLevels(check, judgement, facts.thresholds);
  expectHosted(check, 'mysql', (provider) => judgementOf(check, rows, { ...given, provider }));
  await expectHarmless(check, answers, async (changed) => {
    const again = changed.values();
    const others = await rowsOf(
      check,
      { engine: ENGINE, version: given.version },
      async () => again.next().value ?? [],
      facts.thresholds,
    );
    return judgementOf(check, others, given);
  });
  return judgement;
}

/** The rows of a check, and what its judgement may know of the server. */
export async function judgeable(
  server: MysqlServer,
  check: Check,
  facts: Facts = {},
  login: Login = 'watcher',
): Promise<{ rows: Row[]; facts: JudgementInput; answers: Row[][] }> {
  const { rows, version, answers } = await read(server, check, login, facts.thresholds);
  const given = { version, database: '', me: `'${login}'@'localhost'`, now: new Date(), ...facts };
  return { rows, facts: given, answers };
}

/** The rows of a check as they come back from the store. */
export async function sample(server: MysqlServer, check: Check): Promise<Row[]> {
  return JSON.parse(JSON.stringify((await read(server, check, 'watcher')).rows));
}

async function read(
  server: MysqlServer,
  check: Check,
  login: Login,
  thresholds: Thresholds = {},
): Promise<{ rows: Row[]; version: number; answers: Row[][] }> {
  const session = await server.open(login, '');
  try {
    const give = async (statement: string) =>
      (await session.query<(mysql.RowDataPacket & Row)[]>(statement))[0];
    const [row] = await give('select version() as text');
    const version = versionNumber(String(row?.['text'])) ?? 0;
    await session.query(
      dialect({
        mariadb: 'set session tx_read_only = 1, max_statement_time = 5, lock_wait_timeout = 2',
        mysql:
          'set session transaction_read_only = 1, max_execution_time = 5000, information_schema_stats_expiry = 0, lock_wait_timeout = 2',
      }),
    );
    const answers: Row[][] = [];
    const keep = async (statement: string) => {
      const answer = await give(statement);
      answers.push(answer);
      return answer;
    };
    return { version, rows: await rowsOf(check, { engine: ENGINE, version }, keep, thresholds), answers };
  } finally {
    await session.end();
  }
}
