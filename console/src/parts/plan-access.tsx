import './plan-access.css';
import { Fragment } from 'react';
import { ENDPOINT_PATHS } from '../../../src/vocabulary/endpoint-paths.ts';
import { ENDPOINT_GROUPS, type EndpointGroup } from '../../../src/vocabulary/plans.ts';
import { counted } from './figure.ts';
import { Icon } from './icons.tsx';

// As the specification's section 5 has them.
const GROUPS: readonly { id: EndpointGroup; words: string }[] = [
  { id: 'health', words: 'health' },
  { id: 'ops', words: 'tickets' },
  { id: 'activity', words: 'the activity log' },
  { id: 'team', words: 'the team' },
];

/** The names of the groups of endpoints. */
export const GROUP_NAMES: Record<EndpointGroup, string> = {
  health: 'Health',
  ops: 'Tickets',
  activity: 'Activity log',
  team: 'Team',
};

/** `Enterprise` of `enterprise`. */
export function planName(plan: string): string {
  return plan.charAt(0).toUpperCase() + plan.slice(1);
}

/** A key's limit per minute, as a sentence; 0 = no access. */
export function limitText(limit: number): string {
  if (limit === 0) return 'You can create keys, but every request is refused: this plan has no API access.';
  return `Each key has its own limit of ${counted(limit, 'request')} per minute.`;
}

const LIST = new Intl.ListFormat('en-GB');

/** What clients can read with a key of the account's plan, as a sentence. `includes` are groups such as `health`. */
export function accessText(includes: readonly string[]): string {
  const reached = GROUPS.filter(({ id }) => includes.includes(id)).map(({ words }) => words);
  return reached.length === 0
    ? 'This plan has no API access.'
    : `A key lets dashboards, monitors and collectors read ${LIST.format(reached)}.`;
}

/**
 * Lists the API endpoints that keys can read, and those that need a larger plan. `includes` are groups such as `health`.
 */
export function PlanAccess({ includes }: { includes: readonly string[] }) {
  return (
    <ul className="plan-reach">
      {ENDPOINT_GROUPS.map((id) => {
        const reached = includes.includes(id);
        const paths = ENDPOINT_PATHS.filter((path) => path.split('/')[1] === id);
        return (
          <li className={reached ? '' : 'not-reached'} key={id}>
            <Icon name={reached ? 'check' : 'lock'} />
            <div>
              <p>
                <span className="plan-reach-name">{GROUP_NAMES[id]}</span>
                {!reached && ' – not in this plan'}
              </p>
              {reached && paths.map((path) => <Path key={path} path={`/api/v1${path}`} />)}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** Wraps a path before a slash, not within a word. */
function Path({ path }: { path: string }) {
  return (
    <code>
      {path.split(/(?=\/)/).map((part) => (
        <Fragment key={part}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </code>
  );
}
