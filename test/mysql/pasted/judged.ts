import type mysql from 'mysql2/promise';
import type { Thresholds } from '../../../src/checks/check.ts';
import type { Fault, Row } from '../../../src/checks/fault.ts';
import { judgementOf } from '../../../src/checks/judgement-of.ts';
import { versionNumber } from '../../../src/checks/mysql/flavour.ts';
import { mysqlChecks } from '../../../src/checks/mysql/mysql-checks.ts';
import { rowsOf } from '../../../src/checks/rows.ts';
import type { Provider } from '../../../src/vocabulary/hosted/providers.ts';
import { expectHosted } from '../../support/expect-hosted.ts';
import type { MysqlServer } from '../mysql-server.ts';
import { ENGINE } from '../tested-server.ts';

/** Status and variables as they would be: name to value, which replace or add to what the server shows. */
type Figures = Readonly<Record<string, string | number>>;

/** What a check is judged with besides the server's own rows. */
export interface Judged {
  thresholds?: Thresholds;
  /** The server's version, if not its own. */
  version?: number;
  /** Replaces figures of this run, for faults that no test can cause in seconds, such as a week of load. */
  figures?: Figures;
  /** Replaces a row of this run. */
  row?: (row: Row) => Row;
  /** Replaces figures of a run five minutes before. */
  before?: Figures;
}

/** The faults that a check finds, as the monitor's login sees the server. Their texts must be such as a hosted server allows. */
export async function faultsOf(server: MysqlServer, id: string, given: Judged = {}): Promise<Fault[]> {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  const session = await server.open('watcher', '');
  const read = async (statement: string) =>
    (await session.query<(mysql.RowDataPacket & Row)[]>(statement))[0];
  const [shown] = await read('select version() as text');
  const version = versionNumber(String(shown?.['text'])) ?? 0;
  const rows = await rowsOf(check, { engine: ENGINE, version }, read).finally(() => session.end());
  const { thresholds, figures = {}, row = (same) => same, before } = given;
  const facts = {
    version: given.version ?? version,
    database: '',
    now: new Date(),
    me: "'watcher'@'localhost'",
    ...(thresholds && { thresholds }),
    ...(before && { before: { rows: replaced(rows, before).map(earlier), seconds: 300 } }),
  };
  const judge = (provider: Provider | null) =>
    judgementOf(check, replaced(rows, figures).map(row), { ...facts, provider });
  expectHosted(check, 'mysql', judge);
  const judgement = judge(null);
  return 'skipped' in judgement ? [] : judgement.faults;
}

function replaced(rows: Row[], figures: Figures): Row[] {
  const others = rows.filter((row) => !(String(row['Variable_name']) in figures));
  return [
    ...others,
    ...Object.entries(figures).map(([name, value]) => ({ Variable_name: name, Value: String(value) })),
  ];
}

/** The same moment of the server's start, seen five minutes earlier. */
function earlier(row: Row): Row {
  if ('clock' in row) return { ...row, clock: Number(row['clock']) - 300 };
  if (!/^Uptime/.test(String(row['Variable_name']))) return row;
  return { ...row, Value: String(Number(row['Value']) - 300) };
}
