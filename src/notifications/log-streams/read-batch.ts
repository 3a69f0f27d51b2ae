import type pg from 'pg';
import { type CanonicalEntry, entriesBetween, entryText } from '../../activity/canonical-entry.ts';
import { entryActor } from '../../activity/entry-actor.ts';
import { entrySeverity } from '../../activity/formats/entry-severity.ts';
import { formatEntry } from '../../activity/formats/format.ts';
import type { ShownEntry } from '../../activity/formats/shown-entry.ts';
import { type SealRow, sealColumns, sealHash, sealOf } from '../../activity/seals/seal.ts';
import type { LogBatch, LogLine } from '../channels/channel.ts';
import type { StreamLease } from './lease-streams.ts';

/** The most entries in a batch, and the most bytes of their JSON. */
const MOST_ENTRIES = 500;
const MOST_BYTES = 1_048_576;

/** The most entries that are read for one batch, if the filter lets few pass. */
const MOST_READ = 5_000;

const selectNames =
  'select api_key_id as id, name from api_key where account_id = $1 and api_key_id = any($2::bigint[])';

const selectSeal = `
  select ${sealColumns}
    from activity_seal s
   where account_id = $1 and first_id <= $2 and last_id >= $3
   order by number
   limit 1`;

/** What the log has for a stream: a batch and the size of its entries, or only entries that its filter leaves out, up to `scannedId`. */
export type ReadBatch = { batch: LogBatch; bytes: number } | { scannedId: number };

/** Reads the next batch of a stream, without a lock. A batch that was begun ends where it ended on the last attempt. */
export async function readBatch(writer: pg.Pool, lease: StreamLease): Promise<ReadBatch> {
  const { accountId, nextId, epoch } = lease;
  const end = Math.min(lease.batchId ?? lease.lastId, lease.scannedId + MOST_READ);
  const lines: LogLine[] = [];
  let bytes = 0;
  let lastId = lease.scannedId;
  for (let first = lease.scannedId + 1; first <= end && lines.length < MOST_ENTRIES; first += MOST_ENTRIES) {
    const last = Math.min(first + MOST_ENTRIES - 1, end);
    for (const { line, isLeftOut, id } of await readLines(writer, lease, first, last)) {
      const size = isLeftOut ? 0 : Buffer.byteLength(line.json) + 1;
      const isFull = lines.length >= MOST_ENTRIES || (lines.length > 0 && bytes + size > MOST_BYTES);
      // What was begun is whole, whatever it weighs.
      if (isFull && lease.batchId === null) return { batch: await makeBatch(lastId), bytes };
      if (!isLeftOut) lines.push(line);
      bytes += size;
      lastId = id;
    }
    lastId = last;
  }
  return lines.length === 0 ? { scannedId: lastId } : { batch: await makeBatch(lastId), bytes };

  async function makeBatch(last: number): Promise<LogBatch> {
    const [row] = (await writer.query<SealRow>(selectSeal, [accountId, nextId, last])).rows;
    const seal = row === undefined ? null : `${row.number}:${sealHash(sealOf(row).seal)}`;
    return { accountId, firstId: nextId, lastId: last, epoch, seal, lines };
  }
}

async function readLines(writer: pg.Pool, lease: StreamLease, first: number, last: number) {
  const { rows } = await writer.query<CanonicalEntry>(entriesBetween, [lease.accountId, first, last]);
  const keys = [...new Set(rows.flatMap(({ api_key_id }) => (api_key_id === null ? [] : [api_key_id])))];
  const named = await writer.query<{ id: number; name: string }>(selectNames, [lease.accountId, keys]);
  const names = new Map(named.rows.map(({ id, name }) => [id, name]));
  return rows.map((entry) => {
    const shown = toShown(entry, names);
    const line = {
      id: entry.id,
      at: shown.occurred_at,
      actionType: entry.action_type,
      severity: entrySeverity(shown),
      json: toJson(lease, entry, shown),
    };
    return { line, id: entry.id, isLeftOut: !passes(lease, shown) };
  });
}

function toJson({ format, accountId }: StreamLease, entry: CanonicalEntry, shown: ShownEntry): string {
  return format === 'sealed' ? entryText(entry) : JSON.stringify(formatEntry(format, shown, accountId));
}

/** An entry as endpoint 6 shows it. */
function toShown(entry: CanonicalEntry, names: ReadonlyMap<number, string>): ShownEntry {
  const { id, action_type, page_path, method, status, error_code, query, request_id, api_key_id } = entry;
  const { source_ip, user_agent } = entry;
  const request = {
    method,
    status,
    error_code,
    query: query ?? {},
    request_id,
    api_key_id,
    api_key_name: api_key_id === null ? null : (names.get(api_key_id) ?? null),
    source_ip,
    user_agent,
  };
  const occurred_at = `${entry.occurred_at.slice(0, 23)}Z`;
  return { id, action_type, page_path, properties: entry.properties ?? request, occurred_at };
}

function passes(
  { actionTypes, excludedTypes, actors }: StreamLease,
  { action_type, properties }: ShownEntry,
): boolean {
  if (excludedTypes.includes(action_type)) return false;
  if (actionTypes !== null && !actionTypes.includes(action_type)) return false;
  return actors === null || actors.includes(entryActor(action_type, properties).actor.type);
}
