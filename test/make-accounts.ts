import pg from 'pg';
import { inject } from 'vitest';
import { changeAccount } from '../src/activity/record-entry.ts';
import * as account from '../src/admin/account.ts';
import * as member from '../src/admin/change-member.ts';
import * as key from '../src/admin/key.ts';
import { recordLink } from '../src/team/record-link.ts';

// What the contract suite needs before it can ask: some 400 accounts and keys in a run. They are made by what the
// commands call, for a command is a process and takes 0.3 s of a core. The commands have tests of their own.

let pool: pg.Pool | undefined;

function writer(): pg.Pool {
  pool ??= new pg.Pool({
    connectionString: inject('sharedStore')['DATABASE_URL'],
    options: '-c timezone=UTC -c role=dbvitals_writer',
    max: 2,
  });
  return pool;
}

/** Creates an account in the run's store as `account create` does; gives its id. */
export async function createAccount(wanted: Parameters<typeof account.createAccount>[1]): Promise<number> {
  return (await account.createAccount(writer(), wanted)).id;
}

/** Creates a key in the run's store as `key create` does. */
export function createKey(wanted: Parameters<typeof key.createKey>[1]): ReturnType<typeof key.createKey> {
  return key.createKey(writer(), wanted);
}

/** A member as `member add` makes one, and the token of a link as `member link` makes one for them. */
export async function createMember(wanted: {
  accountId: number;
  name: string;
  email: string;
  roles: Parameters<typeof member.addMember>[1]['roles'];
}): Promise<{ memberId: number; linkToken: string }> {
  const { accountId, ...fields } = wanted;
  return changeAccount(writer(), accountId, async (change) => {
    const { id } = await member.addMember(change, { ...fields, status: 'invited' });
    const link = { accountId, purpose: 'invitation', memberId: id, createdBy: null } as const;
    return { memberId: id, linkToken: (await recordLink(change.client, link)).token };
  });
}
