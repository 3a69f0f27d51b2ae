import { createClient } from '../../client/src/index.ts';
import { type EntryFormat, formatEntry } from '../activity/formats/format.ts';
import { jsonLine } from './print.ts';
import { readState, writeState } from './state-file.ts';

/** The state is written after this many lines, or this long after the first unrecorded line. A kill repeats no more. */
const STATE_EVERY_LINES = 100;
const STATE_EVERY_MS = 1_000;

/** The service and the entries to print. */
export interface ServiceTail {
  url: string;
  apiKey: string;
  follow?: boolean;
  format: EntryFormat;
  /** Ignored when the state file has a last entry. */
  afterId?: number;
  /** The file that records the last printed entry. */
  state?: string;
  /** How many entries to print without `afterId` and a recorded entry. */
  lastEntries: number;
}

/** Prints a service's log, one JSON object per line, until its end or, with `follow`, until the signal. */
export async function tailService(tail: ServiceTail, until: AbortSignal): Promise<void> {
  const { url, apiKey, follow, format, afterId, state, lastEntries } = tail;
  const signal = { signal: until };
  const dbvitals = createClient({ baseUrl: url, apiKey });
  const known = (state === undefined ? undefined : readState(state)) ?? afterId;
  try {
    // Always requested: a wrong key or address fails immediately here, while following would retry.
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
        lines = STATE_EVERY_LINES; // the next line, or the end, tries again and reports the error
      }
    };
    keep();
    try {
      for await (const entry of entries) {
        await print(jsonLine(formatEntry(format, entry, null)));
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

/** Resolves when the line is written. A closed pipe rejects, so an unread line does not count as printed. */
function print(line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

/** Whether the reader closed the pipe. */
function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
