import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { parseStoreUrl, type StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../../store/connect.ts';
import { CONTROL_ONLY } from '../../store/directory/claim-cell.ts';
import {
  type CellClient,
  findStrays,
  leadTo,
  type StrayAccount,
} from '../../store/directory/correct-directory.ts';
import { countMissingKeys } from '../../store/directory/fill-directory.ts';
import { placeOf, storeNumbers } from '../../store/directory/open-cells.ts';
import { unnamedCells } from '../../store/directory/require-named-cells.ts';
import { readSchema } from '../../store/migrate.ts';
import type { Diagnosis } from './diagnosis.ts';

const STATEMENT_MS = 10_000;

/** How many accounts with two open logs are described. */
const MOST_TWICE = 5;

const about = 'directory';

const LACKING = 'Do not start a service before the file names every cell.';

/** Compares the directory with what each cell has. A cell that does not answer was reported before. */
export async function checkDirectory(config: Config): Promise<Diagnosis[]> {
  const numbers = storeNumbers(config).filter((number) => number !== null);
  const addressOf = (number: number) => parseStoreUrl(placeOf(config, number).databaseUrl ?? '');
  const open = (number: number) =>
    openPool(addressOf(number), 'writer', { max: 1, statementTimeout: STATEMENT_MS });
  const control = open(numbers[0] ?? CONTROL_ONLY);
  const pools = numbers.filter((one) => one !== CONTROL_ONLY).map((id) => ({ id, client: open(id) }));
  try {
    const answering: CellClient[] = [];
    for (const cell of pools) if (await isUpToDate(addressOf(cell.id))) answering.push(cell);
    // A new or older store was reported before, and has nothing to compare.
    if (!(await isUpToDate(addressOf(numbers[0] ?? CONTROL_ONLY)))) return [];
    const unnamed = (await unnamedCells(control, numbers)).map(
      (message): Diagnosis => ({ about, status: 'error', message, remedy: LACKING }),
    );
    const found = [...unnamed, ...(await comparedWith(control, answering))];
    if (found.length > 0) return found;
    const message = 'The directory has every account and every valid key of the cells that answer.';
    return [{ about, status: 'ok', message, remedy: null }];
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown error';
    const message = `The directory can't be compared with the cells: ${reason}`;
    return [
      {
        about,
        status: 'error',
        message,
        remedy: 'Fix the problems reported for the stores, then run doctor again.',
      },
    ];
  } finally {
    await Promise.all([control, ...pools.map(({ client }) => client)].map((pool) => pool.end()));
  }
}

/** Whether a store answers, with the schema of this version. */
async function isUpToDate(address: StoreAddress): Promise<boolean> {
  const owner = openPool(address, 'owner', { max: 1, statementTimeout: STATEMENT_MS });
  return readSchema(owner)
    .then(
      ({ applied, pending }) => applied.length > 0 && pending.length === 0,
      () => false,
    )
    .finally(() => owner.end());
}

async function comparedWith(control: pg.Pool, cells: readonly CellClient[]): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  const lost = new Map<number, { accounts: number; example: StrayAccount }>();
  const twice = new Map<number, Diagnosis>();
  for await (const stray of findStrays(control, cells)) {
    const [{ cellId }, ...others] = stray.open;
    if (others.length > 0) {
      if (twice.size < MOST_TWICE) twice.set(stray.accountId, openTwice(stray));
    } else {
      const { accounts, example } = lost.get(cellId) ?? { accounts: 0, example: stray };
      lost.set(cellId, { accounts: accounts + 1, example });
    }
  }
  for (const [cellId, { accounts, example }] of lost) {
    found.push({
      about,
      status: 'error',
      message: `The directory does not lead to ${accounts === 1 ? '1 account' : `${accounts} accounts`} of cell ${cellId}, such as account ${example.accountId} (it says ${saidOf(example)}): requests of these accounts get a 401 or a 500.`,
      remedy: 'Run "dbvitals migrate", which corrects the directory once all cells answer.',
    });
  }
  for (const { id, client } of cells) {
    const keys = await countMissingKeys(control, client, id);
    if (keys === 0) continue;
    found.push({
      about,
      status: 'error',
      message: `The directory lacks ${keys === 1 ? '1 valid key' : `${keys} valid keys`} of cell ${id}: requests with these keys get a 401.`,
      remedy: 'Run "dbvitals migrate", which adds them.',
    });
  }
  return [...found, ...twice.values()];
}

function saidOf({ place }: StrayAccount): string {
  if (place === null) return 'nothing';
  return `cell ${place.cellId}${place.state === 'moving' ? ', moving' : ''}`;
}

// Which of the two is right can't be derived: after a restore, either may have served the account last.
function openTwice(stray: StrayAccount): Diagnosis {
  const { accountId, open, place } = stray;
  const logs = open
    .toSorted((a, b) => a.cellId - b.cellId)
    .map(({ cellId, lastId }) => `cell ${cellId} (its log ends at entry ${lastId})`);
  const other = open.find(({ cellId }) => cellId !== place?.cellId) ?? open[0];
  const forget = `dbvitals account move ${accountId} --forget`;
  return {
    about,
    status: 'error',
    message: `Account ${accountId} is in ${logs.join(' and ')}, as after the restore of a backup that is older than its move. The directory says ${saidOf(stray)}.`,
    remedy:
      place === null
        ? 'Run "dbvitals migrate", which adds the account to the directory, then "dbvitals doctor" again.'
        : `If cell ${place.cellId} has the account's latest rows, run "${forget}", which removes the other copy. If cell ${other.cellId} has them, first run this as the owner of the control store: ${leadTo(accountId, other.cellId)}`,
  };
}
