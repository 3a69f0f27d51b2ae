import './account.css';
import { useQuery } from '@tanstack/react-query';
import type { Account } from '../../../../src/console/account/account.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { limitInWords, PlanReach, planName } from '../../parts/plan-reach.tsx';
import { Loaded, NoPermission } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { accountQuery } from '../../shell/account-query.ts';
import { useCan } from '../../shell/me.ts';
import { AccountName } from './account-name.tsx';
import { ChangePlan, Plans } from './plans.tsx';

/** What the account is, what its plan gives, and its name to change. */
export function AccountPage() {
  const can = useCan();
  return (
    <Page
      description="The company or person whose databases are watched, and what its plan gives."
      title="Account"
    >
      {can('account:read') ? <AccountParts /> : <NoPermission permission="account:read" />}
    </Page>
  );
}

function AccountParts() {
  const account = useQuery(accountQuery);
  const can = useCan();
  return (
    <Loaded query={account}>
      {(data) => (
        <>
          <Facts
            facts={[
              ['Name', <bdi key="name">{data.name}</bdi>],
              ['Plan', planName(data.plan)],
              ['Kind', data.kind === 'company' ? 'Company' : 'One person'],
              ['Number', data.id],
              ['Created', <Time as="full" at={data.created_at} key="created" />],
            ]}
          />
          <Section title="Plan and limits">
            <Limits account={data} />
            <PlanReach includes={data.includes} />
          </Section>
          <Section
            description="What keys reach, and how often each may ask. Health checks and this console are the same in all."
            title="All plans"
          >
            <Plans current={data.plan} />
            <ChangePlan id={data.id} />
          </Section>
          <Section title="Name">
            {can('account:write') ? (
              <AccountName account={data} />
            ) : (
              <p className="quiet">An owner can rename the account.</p>
            )}
          </Section>
        </>
      )}
    </Loaded>
  );
}

function Limits({ account: { plan, kind, requests_per_minute: limit, own_limit } }: { account: Account }) {
  return (
    <ul className="account-limits">
      <li>{limitInWords(limit)}</li>
      {own_limit && <li>That limit is this account’s own, instead of the 100 of its plan.</li>}
      {limit > 0 && (
        <>
          <li>
            The minute begins with a key’s first request. Over the limit it is answered 429, with the seconds
            to wait; asking on does not make the wait longer.
          </li>
          <li>Every request with a key is written to the activity log, those over the limit too.</li>
        </>
      )}
      <li>What you do in this console costs nothing of a key’s limit.</li>
      {kind === 'individual' && (
        <li>
          The account is one person’s: it has no team
          {plan === 'enterprise' && ', so the API’s list of members is empty'}.
        </li>
      )}
    </ul>
  );
}
