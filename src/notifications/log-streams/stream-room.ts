/**
 * How many full batches (1 MiB) a process holds at a time. A receiver that fails or is slow holds its batch for 15 s: all such get a
 * part, so others never wait for them. It is more than the 20 streams that an account may have.
 */
const ROOM = { all: 48, troubled: 24 };

/** What a batch counts at least, in full ones: for its connection, lookup and messages to the child. */
const LEAST = 1 / 8;

const FULL_BYTES = 1_048_576;

/** A receiver that holds a batch for longer is slow. */
export const SLOW_MS = 2_000;

/** A batch that this process holds. */
export interface HeldBatch {
  accountId: number;
  destinationId: number;
  /** Whether the last attempt of its stream failed, or was slow. */
  isTroubled: boolean;
  /** When it was leased, and then when its sending began, by `performance.now()`. */
  since: number;
  /** Its entries; null before they are read. */
  bytes: number | null;
}

/** How many more batches may start, and how many of them for streams in trouble. */
export interface StreamRoom {
  all: number;
  troubled: number;
  /** How many batches each account has under way, if any. */
  accounts: ReadonlyMap<number, number>;
  /** The streams that have one under way: none gets two. */
  busy: readonly number[];
}

/** The room beside what is held, in full batches: what is leased next may be one. */
export function streamRoom(held: Iterable<HeldBatch>, now: number): StreamRoom {
  let { all, troubled } = ROOM;
  const accounts = new Map<number, number>();
  const busy: number[] = [];
  for (const { accountId, destinationId, isTroubled, since, bytes } of held) {
    busy.push(destinationId);
    accounts.set(accountId, (accounts.get(accountId) ?? 0) + 1);
    const weight = Math.max(bytes === null ? 1 : bytes / FULL_BYTES, LEAST);
    all -= weight;
    if (isTroubled || now - since > SLOW_MS) troubled -= weight;
  }
  const whole = (room: number) => Math.max(Math.floor(room), 0);
  return { all: whole(all), troubled: whole(troubled), accounts, busy };
}
