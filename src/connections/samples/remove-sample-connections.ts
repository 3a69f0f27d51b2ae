import type { ChangeAccount } from '../../activity/record-entry.ts';
import { one } from '../../store/one.ts';
import { removeConnection } from '../remove-connection.ts';

/** Connections of one change: it locks the account's log. */
const MOST = 50;

// Sample data has no schedule: the host of its connections does not exist.
const SAMPLES = `
    from connection c
   where c.account_id = $1 and c.removed_at is null
     and not exists (select from connection_schedule s
                      where s.account_id = $1 and s.connection_id = c.connection_id)`;

const select = `select c.connection_id as id ${SAMPLES} order by c.connection_id limit ${MOST}`;

/** Counts the account `$1`'s sample connections. */
export const countSamples = `select count(*)::integer as samples ${SAMPLES}`;

/** Removes up to 50 sample connections of an account, and returns how many are left. */
export function removeSampleConnections(change: ChangeAccount): Promise<number> {
  return change(async (within) => {
    const { accountId, client } = within;
    const { rows } = await client.query<{ id: number }>(select, [accountId]);
    for (const { id } of rows) await removeConnection((work) => work(within), id);
    const left = await client.query<{ samples: number }>(countSamples, [accountId]);
    return one(left.rows, 'count sample connections').samples;
  });
}
