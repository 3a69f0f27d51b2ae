import type pg from 'pg';

/** How a pool of a cell reaches the control store, which holds what belongs to no account. */
interface ControlLink {
  readonly cellId: number;
  /** A pool of the same role on the control store; null = the cell's store is the control store. */
  readonly control: pg.Pool | null;
}

const links = new WeakMap<pg.Pool, ControlLink>();

/** A transaction of a cell, and that of the control store beside it, once it is needed. */
interface LinkedTransaction {
  readonly link: ControlLink;
  control: Promise<pg.PoolClient> | null;
}

const open = new WeakMap<pg.ClientBase, LinkedTransaction>();

/** Ties a cell's pool to the control store. A pool without a link is of the only store, and has no directory. */
export function linkControl(cell: pg.Pool, link: ControlLink): void {
  links.set(cell, link);
}

/** The pool of the control store beside a pool of a cell; null = the cell's store is the control store, or the only store. */
export function controlPoolOf(cell: pg.Pool): pg.Pool | null {
  return links.get(cell)?.control ?? null;
}

/** The cell of a transaction if there is a directory, else null. */
export function cellOfTransaction(client: pg.ClientBase): number | null {
  return open.get(client)?.link.cellId ?? null;
}

/**
 * The control store's side of a cell's transaction, for the tables that belong to no account. In the control store itself it is
 * the transaction. Elsewhere it is another one, which commits first: after a crash between the two, the control store has a
 * row more or less than the cell, so write what is harmless in this state.
 */
export async function controlOf(client: pg.ClientBase): Promise<pg.ClientBase> {
  const sides = open.get(client);
  if (!sides?.link.control) return client;
  sides.control ??= begin(sides.link.control);
  return sides.control;
}

async function begin(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    return client;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Runs the work of a transaction on `pool`, and ends its control side: `inTransaction` calls it before it commits. */
export async function withControl<T>(
  pool: pg.Pool,
  client: pg.ClientBase,
  work: () => Promise<T>,
): Promise<T> {
  const link = links.get(pool);
  if (!link) return work();
  const sides: LinkedTransaction = { link, control: null };
  open.set(client, sides);
  try {
    const result = await work();
    await end(sides, 'commit');
    return result;
  } catch (error) {
    await end(sides, 'rollback').catch(() => {});
    throw error;
  } finally {
    open.delete(client);
  }
}

async function end(sides: LinkedTransaction, how: 'commit' | 'rollback'): Promise<void> {
  const { control } = sides;
  if (control === null) return;
  const client = await control;
  sides.control = null;
  try {
    await client.query(how);
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}
