import type pg from 'pg';
import { openSealKeys } from '../activity/seals/seal-key.ts';
import { createVerifier } from '../activity/seals/verify-in-worker.ts';
import { oneStore, severalStores } from '../cells/console-stores.ts';
import { linkControl } from '../database/cells/control-store.ts';
import { openPool, type StoreAddress } from '../database/connect.ts';
import type { SecretKeys } from '../database/encryption.ts';
import type { Handler } from '../server/console-handler.ts';
import { createConsole } from './console.ts';
import type { ConsoleParts } from './route.ts';

/** The statement timeout of console requests, in milliseconds. */
const STATEMENT_MS = 10_000;

/** The console's API. */
interface OpenConsole {
  handle: Handler;
  /** Ends all event streams. */
  hangUp(): void;
  close(): Promise<void>;
}

/** The stores of the console. */
interface StoresOfConsole {
  /** The control store. */
  control: StoreAddress;
  /** All cells if there is a directory; null = the control store is the only store. */
  cells: readonly CellOfConsole[] | null;
}

interface CellOfConsole {
  id: number;
  /** The store itself, not a pooler. */
  address: StoreAddress;
  isOpen(): boolean;
}

/** How many changes of a cell can write to the control store at a time. */
const CONTROL_CHANGES = 2;

/**
 * Opens the console's API in this process. It uses up to 8 connections to each store and holds the keys of DBVITALS_SECRET_KEY.
 * With a directory, the control store gets up to 6 of its own, and {@link CONTROL_CHANGES} for each other cell: a cell whose
 * statements wait holds only its own ones, and no session of another cell's member waits for it.
 */
export async function openConsole(
  { control: address, cells }: StoresOfConsole,
  given: Omit<ConsoleParts, 'control' | 'controlReader' | 'stores' | 'verify' | 'closing'>,
): Promise<OpenConsole> {
  const closing = new AbortController();
  const main = openStorePools(address, given.secret);
  const ofCells = new Map<number, StorePools>();
  const changing: pg.Pool[] = [];
  const openControl = () => {
    const pool = openPool(address, 'writer', { max: CONTROL_CHANGES, statementTimeout: STATEMENT_MS });
    changing.push(pool);
    return pool;
  };
  for (const cell of cells ?? []) {
    const pools = openStorePools(cell.address, given.secret);
    linkControl(pools.writer, { cellId: cell.id, control: cell.address === address ? null : openControl() });
    ofCells.set(cell.id, pools);
  }
  const poolsOf = ({ id }: CellOfConsole) => ofCells.get(id) ?? main;
  const stores =
    cells === null
      ? oneStore(main)
      : severalStores(
          main.writer,
          cells.map((cell) => ({ ...cell, ...poolsOf(cell) })),
          given.log,
        );
  const verify = async (accountId: number) => {
    const { writer } = await stores.of(accountId);
    const found = [...ofCells.values()].find((pools) => pools.writer === writer) ?? main;
    return found.verifier.verify(accountId);
  };
  const { writer: control, reader: controlReader } = main;
  const parts = { ...given, control, controlReader, stores, verify, closing: closing.signal };
  const app = await createConsole(parts);
  const handle: Handler = (request, response) => app.routing(request, response);
  return {
    handle,
    hangUp: () => closing.abort(),
    async close() {
      closing.abort();
      await app.close();
      await Promise.all([main, ...ofCells.values()].map((pools) => pools.close()));
      await Promise.all(changing.map((pool) => pool.end()));
    },
  };
}

type StorePools = ReturnType<typeof openStorePools>;

function openStorePools(address: StoreAddress, secret: SecretKeys) {
  const statementTimeout = STATEMENT_MS;
  const writer = openPool(address, 'writer', { max: 3, statementTimeout });
  const reader = openPool(address, 'console', { max: 3, pipeline: true, statementTimeout });
  const owner = openPool(address, 'owner', { max: 1, statementTimeout });
  const verifier = createVerifier({ address, statementTimeout }, async (accountId) => [
    ...(await openSealKeys(owner, secret, accountId)).keys(),
  ]);
  return {
    ...{ writer, reader, verifier },
    close: () => Promise.all([writer.end(), reader.end(), verifier.close(), owner.end()]),
  };
}
