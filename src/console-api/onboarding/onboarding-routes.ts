import { changeOnboarding } from '../../accounts/members/change-onboarding.ts';
import {
  countSamples,
  removeSampleConnections,
} from '../../connections/samples/remove-sample-connections.ts';
import { count } from '../../platform/schema/fields.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { one } from '../../store/one.ts';
import { OWN_STORE } from '../../vocabulary/hosted/embedded-store.ts';
import type { Permission } from '../../vocabulary/role-permissions.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** The first steps in an account, each with the permission that it takes. */
const STEPS = {
  watch: 'connections:write',
  notify: 'keys:write',
  finding: 'health:read',
  key: 'keys:write',
  invite: 'members:write',
} as const satisfies Record<string, Permission>;

type Step = keyof typeof STEPS;

const Onboarding = Type.Object({
  /** Those that the member may take. An individual account has no team, so nobody is invited. */
  steps: Type.Array(
    Type.Object({
      id: stringEnum('watch', 'notify', 'finding', 'key', 'invite'),
      done: Type.Boolean(),
    }),
  ),
  /** Whether the member closed the list. */
  dismissed: Type.Boolean(),
  samples: count('connections of sample data'),
});

export type Onboarding = Static<typeof Onboarding>;

// The store that watches itself is no database of the member's. A connection has a version once a run has reached its server.
const selectDone = `
  select exists (select from connection c
                   join connection_schedule s on s.account_id = $1 and s.connection_id = c.connection_id
                   join connection_version v on v.account_id = $1 and v.connection_id = c.connection_id
                  where c.account_id = $1 and c.removed_at is null and c.name <> '${OWN_STORE}') as watch,
         exists (select from destination d
                   join destination_queue q on q.account_id = $1 and q.destination_id = d.destination_id
                  where d.account_id = $1 and d.removed_at is null and q.last_success_at is not null) as notify,
         exists (select from onboarding where account_id = $1 and member_id = $2 and finding_read_at is not null) as finding,
         exists (select from api_key where account_id = $1 and valid_until > now()) as key,
         exists (select from member where account_id = $1 and member_id <> $2) as invite,
         exists (select from onboarding where account_id = $1 and member_id = $2 and dismissed_at is not null) as dismissed,
         (select kind = 'individual' from account where account_id = $1) as individual`;

const show = consoleRoute({
  method: 'GET',
  path: '/onboarding',
  permission: 'member',
  response: Onboarding,
  async handler({ actor: { accountId, memberId, permissions }, read }) {
    const [done, samples] = await read((run) =>
      Promise.all([
        run<Record<Step | 'dismissed' | 'individual', boolean>>(selectDone, [accountId, memberId]),
        run<{ samples: number }>(countSamples, [accountId]),
      ]),
    );
    const { dismissed, individual, ...isDone } = one(done, 'read the first steps');
    const mine = (Object.keys(STEPS) as Step[]).filter(
      (id) => permissions.has(STEPS[id]) && !(individual && id === 'invite'),
    );
    return {
      steps: mine.map((id) => ({ id, done: isDone[id] })),
      dismissed,
      samples: one(samples, 'count sample connections').samples,
    };
  },
});

const change = consoleRoute({
  method: 'PATCH',
  path: '/onboarding',
  permission: 'member',
  body: Type.Object(
    {
      finding_read: Type.Optional(Type.Literal(true, { description: 'finding_read must be true.' })),
      dismissed: Type.Optional(Type.Boolean({ description: 'dismissed must be true or false.' })),
    },
    { additionalProperties: false },
  ),
  response: null,
  handler: ({ actor, body, change }) => changeOnboarding(change, actor.memberId, body),
});

const Left = Type.Object({ left: count('connections of sample data that are left') });

const removeSamples = consoleRoute({
  method: 'POST',
  path: '/sample-data/remove',
  permission: 'connections:write',
  response: Left,
  cost: 10,
  async handler({ change }) {
    return { left: await removeSampleConnections(change) };
  },
});

/** The routes of the first steps and of sample data. */
export const onboardingRoutes: ConsoleRoute[] = [show, change, removeSamples];
