import { SAMPLE_AUTHOR } from '../../../connections/sample-marks.ts';
import { inTransaction } from '../../../store/connect.ts';
import { type SampleTarget, toTimestamp } from '../sample-target.ts';
import { SAMPLE_OWN_CHECK } from './sample-own-check.ts';

// An account may have filled itself twice, or have a check of this id.
const insertCheck = `
  insert into own_check (account_id, id, title, engine, database, sql, unit, operator, warning, critical, remediation, every,
                         timeout, tags, changed_at, changed_by)
  select $1, id, title, engine, database, sql, unit, operator, warning, critical, remediation, every, timeout, tags, $3, $4
    from json_populate_record(null::own_check, $2)
  on conflict do nothing`;

const tag = `
  insert into connection_tags (account_id, connection_id, tags)
  values ($1, $2, $3)`;

/** Writes the own check of the sample, and gives the first connection its tag. */
export async function writeOwnCheck(
  { writer, accountId, history }: SampleTarget,
  { connectionIds: [first] }: { connectionIds: readonly number[] },
): Promise<void> {
  if (first === undefined) return;
  await inTransaction(writer, async (client) => {
    const since = toTimestamp(history.start);
    await client.query(insertCheck, [accountId, JSON.stringify(SAMPLE_OWN_CHECK), since, SAMPLE_AUTHOR]);
    await client.query(tag, [accountId, first, SAMPLE_OWN_CHECK.tags]);
  });
}
