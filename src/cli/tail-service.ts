import { createClient } from '../../client/src/index.ts';
import { readState, writeState } from './state-file.ts';

/** The state is written after this many lines, or this long after the first that it lacks: a kill repeats no more of them. */
const STATE_EVERY_LINES = 100;
const STATE_EVERY_MS = 1_000;

/** What to print. */
export interface ServiceTail {
  url: string;
  apiKey: string;
  follow?: boolean;
  /** Counts only while the state file does not say where to go on. */
  afterId?: number;
  /** Keeps the last entry that was printed. */
  state?: string;
  /** How many entries come when neither says where to begin. */
  lastEntries: number;
}

/** Prints the log as a service gives it, one JSON object a line, until its end or, following, until the signal. */
export async function tailService(tail: ServiceTail, until: AbortSignal): Promise<void> {
  const { url, apiKey, follow, afterId, state, lastEntries } = tail;
  const signal = { signal: until };
  const dbvitals = createClient({ baseUrl: url, apiKey });
  const known = (state === undefined ? undefined : readState(state)) ?? afterId;
  try {
    // Asked even where it is known: a wrong key or address is told at once, while following waits for what passes.
    const { value } = await dbvitals.activity({ per_page: lastEntries }, signal).pages().next();
    let printed = known ?? (value?.data.at(-1)?.id ?? 1) - 1;
    const entries = follow
      ? dbvitals.activity.follow({ afterId: printed, ...signal })
      : dbvitals.activity({ order: 'asc', after_id: printed }, signal);
    let lines = 0;
    let timer: NodeJS.Timeout | undefined;
    const keep = () => {
      clearTimeout(timer);
      timer = undefined;
      lines = 0;
      if (state !== undefined) writeState(state, printed);
    };
    const keepLater = () => {
      try {
        keep();
      } catch {
        lines = STATE_EVERY_LINES; // the next line, or the end, tries again and says what is wrong
      }
    };
    keep();
    try {
      for await (const entry of entries) {
        await print(`${JSON.stringify(entry)}\n`);
        printed = entry.id;
        lines += 1;
        if (lines >= STATE_EVERY_LINES) keep();
        else timer ??= setTimeout(keepLater, STATE_EVERY_MS);
      }
    } finally {
      keep();
    }
  } catch (error) {
    if (!until.aborted && !isClosedPipe(error)) throw error;
  }
}

/** Resolves when the line is written; a closed pipe fails it, so that no line which nobody got counts as printed. */
function print(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whoever read it has seen enough. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
