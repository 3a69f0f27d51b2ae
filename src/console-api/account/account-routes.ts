import { changeSettings } from '../../accounts/change-account.ts';
import { notFound } from '../../platform/rejection.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { within } from '../../store/read.ts';
import { ENDPOINT_GROUPS, includes, PLANS } from '../../vocabulary/plans.ts';
import { editConflict } from '../edit-conflict.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';

const Account = Type.Object(
  {
    id: identifier('account'),
    name: Type.String(),
    kind: stringEnum('company', 'individual'),
    plan: stringEnum(...PLANS),
    requests_per_minute: count('of each key; 0 = no access to the API'),
    own_limit: Type.Boolean({ description: "whether the limit is the account's own, not that of its plan" }),
    includes: Type.Array(stringEnum(...ENDPOINT_GROUPS), {
      description: 'the groups of endpoints that keys reach',
    }),
    created_at: timestamp('time of creation'),
    version: count('give it back with a change'),
  },
  { title: 'Account' },
);
const AccountChange = Type.Object({
  version: Type.Integer({ description: 'Send the version of the account that you read.' }),
  name: singleLine(200, 'Enter a name of 1 to 200 characters.'),
});

/** GET /account; the answer of PATCH /account. */
export type Account = Static<typeof Account>;
/** PATCH /account: 409 when the version has changed. */
export type AccountChange = Static<typeof AccountChange>;

type AccountRow = Omit<Account, 'includes' | 'created_at'> & { created_at: Date };

const select = `
  select account_id as id, name, kind, plan, request_limit as requests_per_minute,
         requests_per_minute is not null as own_limit, created_at, version
    from account
   where account_id = $1`;

function accountOf([row]: AccountRow[]): Account {
  if (!row) throw notFound();
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    includes: ENDPOINT_GROUPS.filter((group) => includes(row.plan, `/api/v1/${group}`)),
  };
}

const showAccount = consoleRoute({
  method: 'GET',
  path: '/account',
  permission: 'account:read',
  response: Account,
  async handler({ actor: { accountId }, read }) {
    return accountOf(await read((run) => run<AccountRow>(select, [accountId])));
  },
});

const changeName = consoleRoute({
  method: 'PATCH',
  path: '/account',
  permission: 'account:write',
  body: AccountChange,
  response: Account,
  async handler({ body: { version, name }, change }) {
    return change(async (made) => {
      const { accountId, client } = made;
      const read = async () => accountOf((await client.query<AccountRow>(select, [accountId])).rows);
      if ((await read()).version !== version) {
        throw await editConflict(within(client), accountId, 'account_changed', null);
      }
      await changeSettings(made, { name: name.trim() });
      return read();
    });
  },
});

export const accountRoutes: ConsoleRoute[] = [showAccount, changeName];
