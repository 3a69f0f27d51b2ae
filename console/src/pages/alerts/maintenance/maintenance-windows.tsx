import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Maintenance } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { send } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { ConfirmRequest } from '../../../parts/confirm-request.tsx';
import { scopeText } from '../../../parts/connection-choice.tsx';
import { useRestoredFocus } from '../../../parts/restore-focus.ts';
import { Loaded, Message } from '../../../parts/states.tsx';
import { StatusMark } from '../../../parts/status-mark.tsx';
import { Time } from '../../../parts/time.tsx';
import { useCan } from '../../../shell/profile.ts';
import { maintenanceQuery } from '../alerts-query.ts';
import { WindowForm } from './window-form.tsx';
import { windowTime } from './window-text.ts';

const GROUPS = [
  { state: 'active', title: 'Active' },
  { state: 'coming', title: 'Upcoming' },
  { state: 'past', title: 'Past' },
] as const;

/** The maintenance windows of the account: active, coming and past ones. */
export function MaintenanceWindows() {
  const query = useQuery(maintenanceQuery);
  const can = useCan();
  const mayWrite = can('connections:write');
  const [isAdding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Maintenance | null>(null);
  useRestoredFocus(isAdding || ending !== null);
  const add = (
    <Button icon="plus" kind="primary" onPress={() => setAdding(true)}>
      Add window
    </Button>
  );
  return (
    <Loaded query={query}>
      {({ items }) => (
        <div className="alert-rules">
          {items.length === 0 ? (
            <Message actions={mayWrite && add} icon="clock" title="No maintenance windows">
              Add a window before you restart or upgrade a server, so that nobody is paged.
            </Message>
          ) : (
            mayWrite && <div className="page-actions">{add}</div>
          )}
          {GROUPS.map(({ state, title }) => {
            const windows = items.filter((window) => window.state === state);
            return (
              windows.length > 0 && (
                <section aria-label={title} className="window-group" key={state}>
                  <h2>{title}</h2>
                  <ul className="rule-list">
                    {windows.map((window) => (
                      <Window key={window.id} onEnd={mayWrite ? setEnding : null} window={window} />
                    ))}
                  </ul>
                </section>
              )
            );
          })}
          {isAdding && <WindowForm onClose={() => setAdding(false)} />}
          {ending && <EndWindow onClose={() => setEnding(null)} window={ending} />}
        </div>
      )}
    </Loaded>
  );
}

interface WindowProps {
  window: Maintenance;
  /** Null for members who may only read. */
  onEnd: ((window: Maintenance) => void) | null;
}

function Window({ window, onEnd }: WindowProps) {
  const { name, state, starts_at, ends_at, weekdays, created_by, connections } = window;
  return (
    <li className={state === 'past' ? 'rule-item disabled-rule' : 'rule-item'}>
      <div className="rule-text">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <p>
          {windowTime(window)}
          {weekdays !== null && state === 'coming' && starts_at !== null && (
            <>
              {'; next: '}
              <Time as="local" at={starts_at} />
            </>
          )}
        </p>
        <p className="rule-marks small quiet">
          {state === 'active' && <StatusMark quiet status="active" />}
          {state === 'active' && ends_at !== null && (
            <span>
              ends <Time at={ends_at} />
            </span>
          )}
          <span>
            <bdi>{scopeText(connections)}</bdi>
          </span>
          <span>
            added by <bdi>{created_by}</bdi>
          </span>
        </p>
      </div>
      {onEnd && state !== 'past' && (
        <div className="rule-actions">
          <Button onPress={() => onEnd(window)} small>
            {state === 'active' && weekdays === null ? 'End now' : 'Remove'}
            <span className="hidden-text">: {name}</span>
          </Button>
        </div>
      )}
    </li>
  );
}

function EndWindow({
  window: { id, name, state, weekdays },
  onClose,
}: {
  window: Maintenance;
  onClose: () => void;
}) {
  const isOnce = state === 'active' && weekdays === null;
  return (
    <ConfirmRequest
      action={isOnce ? 'End now' : 'Remove window'}
      done={isOnce ? 'Maintenance window ended' : 'Maintenance window removed'}
      onClose={onClose}
      renews={['alerts']}
      request={() => send('DELETE', `/maintenance/${id}`)}
      title={isOnce ? 'End this window?' : 'Remove this window?'}
    >
      <p>
        {state === 'active'
          ? 'Alerts that are still open are sent within a minute.'
          : 'It no longer mutes notifications.'}{' '}
        “<bdi>{name}</bdi>” stays listed as past.
      </p>
    </ConfirmRequest>
  );
}
