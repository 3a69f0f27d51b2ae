import { type DbvitalsClient, DbvitalsError, type Fleet, type Measure } from '../../../client/src/index.ts';
import { ENGINES, type Engine } from '../../vocabulary/engines.ts';
import type { KeyBudget } from './key-budget.ts';
import {
  type LatestValues,
  MOST_VALUES,
  type WrittenConnection,
  type WrittenMeasure,
} from './write-measures.ts';

/** How many connections are read at a time. */
const READERS = 4;

// As the exporter of a store: three intervals; a connection that is checked only by commands has a day.
const INTERVALS = 3;
const UNSCHEDULED_SECONDS = 8 * 3_600;
const LEAST_SECONDS = 300;

/** What the fleet says of a connection, and its values as they were last read. */
interface Watched {
  name: string;
  engine: Engine;
  /** Unix time of the latest run with values, in milliseconds; null before the first. */
  measuredAt: number | null;
  freshSeconds: number;
  read: { measuredAt: number; count: number; values: WrittenMeasure[] } | null;
}

/** The field of `include` by which {@link MeasuresByKey.follow} learns who was measured. */
export const FLEET_INCLUDES = 'engine,measured_at,interval';

/**
 * Keeps the latest values of a fleet. One request says which connections were measured since; each of those takes one more. So
 * the requests follow from the runs, and not from the scrapes.
 */
export class MeasuresByKey {
  readonly #dbvitals: Pick<DbvitalsClient, 'measures'>;
  readonly #budget: KeyBudget;
  #connections = new Map<number, Watched>();

  constructor(dbvitals: Pick<DbvitalsClient, 'measures'>, budget: KeyBudget) {
    this.#dbvitals = dbvitals;
    this.#budget = budget;
  }

  /** Takes over who was measured when. */
  follow({ data }: Pick<Fleet, 'data'>): void {
    this.#connections = new Map(
      data.map(({ id, name, engine = '', measured_at: at, interval }) => [
        id,
        {
          name,
          engine: ENGINES.find((one) => one === engine) ?? 'postgres',
          measuredAt: at ? Date.parse(at) : null,
          freshSeconds: Math.max(INTERVALS * (interval ?? UNSCHEDULED_SECONDS), LEAST_SECONDS),
          read: this.#connections.get(id)?.read ?? null,
        },
      ]),
    );
  }

  /**
   * Reads the new values, those of the oldest run first, as far as the key's limit allows. Returns whether all were read. Throws
   * a {@link DbvitalsError}.
   */
  async readNew(): Promise<boolean> {
    const due = [...this.#connections]
      .filter(([, { measuredAt, read }]) => measuredAt !== null && measuredAt !== read?.measuredAt)
      .toSorted(([, a], [, b]) => (a.read?.measuredAt ?? 0) - (b.read?.measuredAt ?? 0));
    let underWay = 0;
    let failure: unknown = null;
    const readDue = async () => {
      while (due.length > 0 && failure === null && this.#budget.hasRoom(underWay)) {
        const [[id, watched] = []] = due.splice(0, 1);
        if (id === undefined || watched === undefined) return;
        underWay += 1;
        try {
          await this.#read(id, watched);
        } catch (error) {
          failure ??= error;
        } finally {
          underWay -= 1;
        }
      }
    };
    await Promise.all(Array.from({ length: READERS }, readDue));
    if (failure !== null) throw failure;
    return due.length === 0;
  }

  /** The values that are not too old. */
  latest(): LatestValues {
    const now = Date.now();
    const connections: WrittenConnection[] = [];
    const values: WrittenMeasure[] = [];
    let leftOut = 0;
    for (const [id, { name, engine, freshSeconds, read }] of [...this.#connections].toSorted(
      ([a], [b]) => a - b,
    )) {
      if (!read) continue;
      connections.push({ connection_id: id, name, engine, measured_at: read.measuredAt / 1_000 });
      if (read.measuredAt < now - freshSeconds * 1_000) continue;
      // What is left out is not kept either: it would fill the memory.
      read.values.splice(MOST_VALUES - values.length);
      values.push(...read.values);
      leftOut += read.count - read.values.length;
    }
    return { connections, values, leftOut };
  }

  async #read(id: number, watched: Watched): Promise<void> {
    try {
      const { value: page } = await this.#dbvitals.measures(id).pages().next();
      const rows = page?.data ?? [];
      const [first] = rows;
      const measuredAt = first ? Date.parse(first.measured_at) : (watched.measuredAt ?? 0);
      watched.read = { measuredAt, count: rows.length, values: rows.map((row) => toWritten(id, row)) };
      watched.measuredAt = measuredAt;
    } catch (error) {
      if (!(error instanceof DbvitalsError) || error.status !== 404) throw error;
      this.#connections.delete(id); // removed since
    }
  }
}

function toWritten(
  connectionId: number,
  { id, check_id, metric, database, object, value }: Measure,
): WrittenMeasure {
  return {
    connection_id: connectionId,
    series_id: id,
    check_id: check_id ?? '',
    metric,
    database: database ?? '',
    object,
    value,
  };
}
