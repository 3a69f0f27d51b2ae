import { openSealKeys } from '../activity/seals/seal-key.ts';
import { createVerifier } from '../activity/seals/verify-in-worker.ts';
import type { Handler } from '../api/console-handler.ts';
import type { StoreAddress } from '../config/store-url.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { linkControl } from '../store/cells/control-store.ts';
import { openPool } from '../store/connect.ts';
import { connectAhead } from '../store/connect-ahead.ts';
import { oneStore, severalStores } from '../store/directory/console-stores.ts';
import { PerCell } from '../store/directory/per-cell.ts';
import { createConsole } from './console.ts';
import type { ConsoleParts } from './route.ts';
import { changeInTurn, READER_CONNECTIONS, WRITER_CONNECTIONS } from './turns/in-turn.ts';

/** The statement timeout of console requests, in milliseconds. */
const STATEMENT_MS = 10_000;

/** The console's API. */
interface OpenConsole {
  handle: Handler;
  /**
   * Serves the accounts of these cells from now on, if there is a directory. Returns what closes the pools on the others: call it when
   * the requests that are under way have ended.
   */
  useCells(cells: readonly CellOfConsole[]): () => Promise<void>;
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
 * Opens the console's API in this process. It uses up to 9 connections to each store and holds the keys of DBVITALS_SECRET_KEY.
 * With a directory, the control store gets up to 6 of its own, and {@link CONTROL_CHANGES} for each other cell: a cell whose
 * statements wait holds only its own ones, and no session of another cell's member waits for it.
 */
export async function openConsole(
  { control: address, cells }: StoresOfConsole,
  given: Omit<ConsoleParts, 'control' | 'controlReader' | 'stores' | 'inTurn' | 'verify' | 'closing'>,
): Promise<OpenConsole> {
  const closing = new AbortController();
  const main = openStorePools(address, given.secret);
  const ofCells = new PerCell(
    (cell: CellOfConsole) => openCellPools(cell, address, given.secret),
    (pools) => pools.close(),
  );
  ofCells.use(cells ?? []);
  connectAhead(main.reader);
  const stores = cells === null ? oneStore(main) : severalStores(main.writer, () => ofCells.all, given.log);
  const verify = async (accountId: number) => {
    const { writer } = await stores.of(accountId);
    const found = ofCells.all.find((pools) => pools.writer === writer) ?? main;
    return found.verifier.verify(accountId);
  };
  const { writer: control, reader: controlReader } = main;
  const parts = {
    ...given,
    control,
    controlReader,
    stores,
    inTurn: changeInTurn,
    verify,
    closing: closing.signal,
  };
  const app = await createConsole(parts);
  const handle: Handler = (request, response) => app.routing(request, response);
  return {
    handle,
    useCells: (now) => ofCells.use(now),
    hangUp: () => closing.abort(),
    async close() {
      closing.abort();
      await app.close();
      await Promise.all([main.close(), ofCells.close()]);
    },
  };
}

/** Opens the pools on a cell, whose changes also write to the control store at `control`. */
function openCellPools({ id, address, isOpen }: CellOfConsole, control: StoreAddress, secret: SecretKeys) {
  const pools = openStorePools(address, secret);
  if (isOpen()) connectAhead(pools.reader);
  const changes =
    address === control
      ? null
      : openPool(control, 'writer', { max: CONTROL_CHANGES, statementTimeout: STATEMENT_MS });
  linkControl(pools.writer, { cellId: id, control: changes });
  return {
    ...pools,
    id,
    isOpen,
    async close() {
      await pools.close();
      await changes?.end();
    },
  };
}

function openStorePools(address: StoreAddress, secret: SecretKeys) {
  const statementTimeout = STATEMENT_MS;
  const writer = openPool(address, 'writer', { max: WRITER_CONNECTIONS, statementTimeout });
  const reader = openPool(address, 'console', { max: READER_CONNECTIONS, pipeline: true, statementTimeout });
  const owner = openPool(address, 'owner', { max: 1, statementTimeout });
  const verifier = createVerifier({ address, statementTimeout }, async (accountId) => [
    ...(await openSealKeys(owner, secret, accountId)).keys(),
  ]);
  return {
    writer,
    reader,
    verifier,
    close: () => Promise.all([writer.end(), reader.end(), verifier.close(), owner.end()]),
  };
}
