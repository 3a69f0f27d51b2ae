import type { Change } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { SilenceRow } from './silence-row.ts';

const selectNames = `
  select connection_id as id, name from connection where account_id = $1 and connection_id = any ($2::bigint[])`;

/** Writes an entry in the account's log for each silence, with the name that its connection has then. */
export async function recordSilences(
  { accountId, client, record }: Pick<Change, 'accountId' | 'client' | 'record'>,
  actionType: 'silence_added' | 'silence_ended',
  silences: readonly SilenceRow[],
  more: Record<string, unknown> = {},
): Promise<void> {
  const ids = [...new Set(silences.map(({ connection_id }) => connection_id))];
  const { rows } = await client.query<{ id: number; name: string }>(selectNames, [accountId, ids]);
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  for (const { id, connection_id, check_id, object, reason, note, until } of silences) {
    const connection_name = names.get(connection_id) ?? '';
    const properties = {
      silence_id: id,
      connection_id,
      connection_name,
      check_id,
      object,
      reason,
      note,
      until,
    };
    record(actionType, PAGE_LINKS.connection(connection_id), { ...properties, ...more });
  }
}
