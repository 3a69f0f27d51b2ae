import { ENDPOINT_GROUPS, includes, PLANS, type Plan } from '../../../../src/vocabulary/plans.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icons.tsx';
import { planName } from '../../parts/plan-access.tsx';

/** Requests per minute. */
const LIMITS: Readonly<Record<Plan, string>> = {
  individual: 'none',
  team: '30',
  business: '60',
  enterprise: '100, or a custom limit',
};

/** All plans, as the specification's sections 5 and 8 have them. */
export function Plans({ current }: { current: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label="Plans" className="account-plans" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {['Plan', 'Requests per minute', 'Health', 'Tickets', 'Activity log', 'Team'].map((name) => (
              <th key={name} scope="col">
                <span>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {PLANS.map((id) => (
            <tr aria-current={id === current ? 'true' : undefined} key={id}>
              <th scope="row">
                {planName(id)}
                {id === current && <span className="account-current">current</span>}
              </th>
              <td>{LIMITS[id]}</td>
              {ENDPOINT_GROUPS.map((group) => {
                const isReached = includes(id, `/api/v1/${group}`);
                return (
                  <td key={group}>
                    {isReached ? <Icon name="check" /> : <span aria-hidden="true">–</span>}
                    <span className="hidden-text">{isReached ? 'yes' : 'no'}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Who can change the plan, and how. */
export function ChangePlan({ id }: { id: number }) {
  return (
    <details className="account-change">
      <summary>How to change the plan</summary>
      <p>
        The operator of the service changes it at the command line. It takes effect with the next request, and
        keys stay valid. Only an Enterprise account can have a custom limit.
      </p>
      <CodeBlock text={`dbvitals account change ${id} --plan business`} what="command" />
    </details>
  );
}
