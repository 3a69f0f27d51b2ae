import type pg from 'pg';
import type { StoreAddress } from '../../../config/store-url.ts';
import { findAccountPlace, type Place } from '../directory.ts';

/** What a move needs. */
export interface MoveParts {
  /** A pool of the control store. */
  readonly control: pg.Pool;
  /** The cells of the settings. */
  readonly cellIds: readonly number[];
  /** The address of a cell. Throws a sentence if the cell can't be used. */
  addressOf(cellId: number): Promise<StoreAddress>;
  /** Called after each step, in the words of its progress. */
  readonly step: (step: string) => void;
}

/** Where an account lives. Throws a sentence if there is no such account. */
export async function requirePlace(control: pg.Pool, accountId: number): Promise<Place> {
  const place = await findAccountPlace(control, accountId);
  if (!place) throw new Error(`There is no account ${accountId}.`);
  return place;
}
