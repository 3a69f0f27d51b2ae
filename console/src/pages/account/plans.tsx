import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icons.tsx';
import { planName } from '../../parts/plan-access.tsx';

const PLANS = [
  { id: 'individual', limit: 'none', reach: [false, false, false, false] },
  { id: 'team', limit: '30', reach: [true, false, false, false] },
  { id: 'business', limit: '60', reach: [true, true, false, false] },
  { id: 'enterprise', limit: '100, or a custom limit', reach: [true, true, true, true] },
] as const;

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
          {PLANS.map(({ id, limit, reach }) => (
            <tr aria-current={id === current ? 'true' : undefined} key={id}>
              <th scope="row">
                {planName(id)}
                {id === current && <span className="account-current">current</span>}
              </th>
              <td>{limit}</td>
              {reach.map((reached, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: four groups that stay in their places
                <td key={index}>
                  {reached ? <Icon name="check" /> : <span aria-hidden="true">–</span>}
                  <span className="hidden-text">{reached ? 'yes' : 'no'}</span>
                </td>
              ))}
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
