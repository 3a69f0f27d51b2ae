import './account.css';
import { useQuery } from '@tanstack/react-query';
import type { Account } from '../../../../src/console-api/account/account-routes.ts';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { limitText, PlanAccess, planName } from '../../parts/plan-access.tsx';
import { Loaded } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { accountQuery } from '../../shell/account-query.ts';
import { useCan } from '../../shell/profile.ts';
import { AccountName } from './account-name.tsx';
import { ChangePlan, Plans } from './plans.tsx';

/** The account, its plan and limits, and a form to rename it. */
export function AccountPage() {
  const account = useQuery(accountQuery);
  const can = useCan();
  return (
    <Page description="Your account, its plan and its limits." title="Account">
      <Loaded query={account}>
        {(data) => (
          <>
            <Facts
              facts={[
                ['Name', <bdi key="name">{data.name}</bdi>],
                ['Plan', planName(data.plan)],
                ['Type', data.kind === 'company' ? 'Company' : 'Individual'],
                ['ID', data.id],
                ['Created', <Time as="full" at={data.created_at} key="created" />],
              ]}
            />
            <Section title="Plan and limits">
              <Limits account={data} />
              <PlanAccess includes={data.includes} />
            </Section>
            <Section
              description="Plans differ in what API keys can read, and how often. Health checks and this console are the same in all plans."
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
    </Page>
  );
}

function Limits({ account: { plan, kind, requests_per_minute: limit, own_limit } }: { account: Account }) {
  return (
    <ul className="account-limits">
      <li>{limitText(limit)}</li>
      {own_limit && <li>This account has a custom limit instead of the plan’s 100.</li>}
      {limit > 0 && (
        <>
          <li>
            The minute starts with a key’s first request. Requests over the limit get status 429 and the
            seconds to wait. Retrying does not extend the wait.
          </li>
          <li>Every API request is recorded in the activity log, including requests over the limit.</li>
        </>
      )}
      <li>Using this console does not count towards a key’s limit.</li>
      {kind === 'individual' && (
        <li>
          An individual account has no team
          {plan === 'enterprise' && ', so the API’s member list is empty'}.
        </li>
      )}
    </ul>
  );
}
