import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { openPool, WORK_DEADLINE_MS } from '../../store/connect.ts';
import { requireDirectory } from '../../store/directory/choose-cell.ts';
import {
  type Cell,
  type Cells,
  joinPlace,
  openCells,
  placeOf,
  storeNumbers,
} from '../../store/directory/open-cells.ts';
import { workInReachable } from '../../store/directory/reachable-cells.ts';
import { requireNamedCells } from '../../store/directory/require-named-cells.ts';
import type { PlannedMigration } from '../../store/plan-migrations.ts';
import type { CommandContext, StoreWork } from '../command.ts';
import { cellForNew, cellOfCommand, cellsOfCommand } from './command-cells.ts';

/** What a command says of the stores that it needs. */
interface StoreParts {
  config: Config;
  /** Shows what it waits for. */
  say: (step: string) => void;
  /** Null outside of a command. */
  running: Command | null;
}

type StoreContext = Pick<
  CommandContext,
  | 'withStore'
  | 'withStoreForNew'
  | 'withEachStore'
  | 'withReachableStores'
  | 'withConsoleRole'
  | 'withCells'
  | 'planMigrations'
>;

/** The part of a command's context that opens stores. Commands that open none don't load it, nor the driver. */
export function storeContext({ config, say, running }: StoreParts): StoreContext {
  const within = <T>(work: (cells: Cells) => Promise<T>) => withOpenCells({ config, say }, work);
  return {
    withStore: (work) => within(async (cells) => workIn(cells, await cellOfCommand(cells, running), work)),
    withStoreForNew: (work) => within(async (cells) => workIn(cells, await cellForNew(cells, running), work)),
    withEachStore: (work) =>
      within(async (cells) => {
        const done: Awaited<ReturnType<typeof work>>[] = [];
        for await (const cell of cellsOfCommand(cells, running)) done.push(await workIn(cells, cell, work));
        return done;
      }),
    withReachableStores: (work) =>
      within((cells) => workInReachable(cells, (cell) => workIn(cells, cell, work))),
    withConsoleRole: (work) =>
      within(async (cells) => {
        const { store } = await cellOfCommand(cells, running);
        const reader = openPool(store.address, 'console', { max: 2, pipeline: true });
        return work(reader).finally(() => reader.end());
      }),
    withCells: (work) =>
      within(async (cells) => {
        const directory = requireDirectory(cells);
        const limits = { max: 2, statementTimeout: WORK_DEADLINE_MS };
        const control = openPool(directory.address, 'owner', limits);
        const addressOf = async (cellId: number) => (await cells.open(cellId)).store.address;
        const cellIds = cells.places.map(({ id }) => id);
        return work({ control, cellIds, addressOf }).finally(() => control.end());
      }),
    planMigrations: () => planEachMigration({ config, say }),
  };
}

/** Opens the stores of the settings while `work` runs. */
export async function withOpenCells<T>(
  { config, say }: Pick<StoreParts, 'config' | 'say'>,
  work: (cells: Cells) => Promise<T>,
): Promise<T> {
  const cells = await openCells(config, say, 'use');
  try {
    return await work(cells);
  } finally {
    await cells.close();
  }
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
    return await work(writer, openOwner, cell.number);
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
  }
}

async function planEachMigration({
  config,
  say,
}: Pick<StoreParts, 'config' | 'say'>): Promise<PlannedMigration[]> {
  const { planMigrations } = await import('../../store/plan-migrations.ts');
  const planned: PlannedMigration[] = [];
  const [control = null, ...others] = storeNumbers(config);
  for (const number of [control, ...others]) {
    const place = placeOf(config, number);
    const store = await joinPlace(place, say, 'refuse');
    const ids = number === control ? config.cells?.cells.map(({ id }) => id) : undefined;
    const judged = ids ? requireNamedCells(store.address, ids) : Promise.resolve();
    const pending = await judged.then(() => planMigrations(store.address)).finally(store.close);
    planned.push(
      ...pending.map((one) => (number === null ? one : { ...one, name: `${one.name} in ${place.name}` })),
    );
  }
  return planned;
}
