import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { removeDestination } from '../../notifications/destinations/remove-destination.ts';
import { one } from '../../store/one.ts';
import { removeOwnCheck } from '../own-checks/remove-own-check.ts';
import { removeConnection } from '../remove-connection.ts';
import { SAMPLE_AUTHOR, SAMPLE_CHECK, SAMPLE_TARGET } from '../sample-marks.ts';

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

// What a member changed is theirs: a destination whose digest has a time, and an own check that somebody else wrote last.
const selectDestinations = `
  select d.destination_id as id
    from destination d
    join destination_queue q using (account_id, destination_id)
   where d.account_id = $1 and d.removed_at is null and d.target = '${SAMPLE_TARGET}' and d.digest is not null
     and q.digest_due_at is null
   order by d.destination_id`;
const selectOwnChecks = `
  select id from own_check where account_id = $1 and id = '${SAMPLE_CHECK}' and changed_by = '${SAMPLE_AUTHOR}'`;

/** Removes up to 50 sample connections of an account, with the last of them also the sample's own check and destination. Returns how many are left. */
export function removeSampleConnections(change: ChangeAccount): Promise<number> {
  return change(async (within) => {
    const { accountId, client } = within;
    const { rows } = await client.query<{ id: number }>(select, [accountId]);
    for (const { id } of rows) await removeConnection((work) => work(within), id);
    const left = await client.query<{ samples: number }>(countSamples, [accountId]);
    const { samples } = one(left.rows, 'count sample connections');
    if (samples === 0 && rows.length > 0) await removeRest(within);
    return samples;
  });
}

async function removeRest(change: Change): Promise<void> {
  const ids = [change.accountId];
  const destinations = await change.client.query<{ id: number }>(selectDestinations, ids);
  for (const { id } of destinations.rows) await removeDestination(change, id);
  const ownChecks = await change.client.query<{ id: string }>(selectOwnChecks, ids);
  for (const { id } of ownChecks.rows) await removeOwnCheck(change, id);
}
