import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ConnectionWatch } from '../../../../src/console-api/alerts/maintenance-routes.ts';
import { read } from '../../api.ts';
import { Icon } from '../../parts/icons.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';

const RENEWED_MS = 60_000;

/** The open alerts of a connection, and the maintenance window that it is in; nothing without both. */
export function Watch({ connectionId }: { connectionId: string }) {
  const { data } = useQuery({
    ...read<ConnectionWatch>(`/connections/${encodeURIComponent(connectionId)}/watch`),
    refetchInterval: RENEWED_MS,
  });
  if (!data || (data.alerts.length === 0 && data.maintenance === null)) return null;
  const { alerts, maintenance } = data;
  return (
    <section aria-label="Alerts" className="connection-watch">
      {maintenance !== null && (
        <p>
          <Icon name="silent" /> In maintenance: <bdi>{maintenance.name}</bdi>
          {maintenance.ends_at !== null && (
            <>
              , ends <Time at={maintenance.ends_at} />
            </>
          )}
          . Alerts and tickets send nothing.
        </p>
      )}
      {alerts.length > 0 && (
        <ul>
          {alerts.map(({ id, rule_name, severity }) => (
            <li key={id}>
              <StatusMark quiet status={severity} />{' '}
              <Link search={{ alert: String(id) }} to="/alerts">
                <bdi>{rule_name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
