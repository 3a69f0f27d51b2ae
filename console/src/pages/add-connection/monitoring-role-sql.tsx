import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import type { MonitoringRoleSql as Statements } from '../../../../src/console/connections/monitoring-role-sql.ts';
import type { Engine } from '../../../../src/vocabulary/engines.ts';
import { get } from '../../api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Loaded, SkeletonRows } from '../../parts/states.tsx';

/** The login's name until the user types another one that needs no quotes. */
const PROPOSED = 'dbvitals_watcher';
const PLAIN = /^[a-z_][a-z0-9_]{0,62}$/;

/** The SQL that creates the monitoring login, to paste. */
export function MonitoringRoleSql({ engine, username }: { engine: Engine; username: string }) {
  const name = useDeferredValue(PLAIN.test(username) ? username : PROPOSED);
  const query = useQuery({
    queryKey: ['connections', 'login-sql', engine, name],
    queryFn: ({ signal }) => get<Statements>('/connections/login-sql', { engine, username: name }, signal),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Loaded query={query} skeleton={<SkeletonRows rows={3} />}>
      {({ sql, sees, optional }) => (
        <div className="login-sql">
          <p className="quiet">{sees}</p>
          <CodeBlock text={sql} what="SQL" />
          {optional && (
            <details>
              <summary>Optional: allow reading rows, for two more checks</summary>
              <p className="quiet">{optional.why}</p>
              <CodeBlock text={optional.sql} what="optional SQL" />
            </details>
          )}
        </div>
      )}
    </Loaded>
  );
}
