import '../../parts/page-views.css';
import './alerts.css';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ButtonLink } from '../../parts/button-link.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { useNow } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import { alertLinkId, OpenAlerts, ResolvedAlerts } from './alert-list.tsx';
import { AlertPanel } from './alert-panel.tsx';
import { openSummary } from './alert-text.ts';
import { openAlertsQuery, resolvedAlertsQuery } from './alerts-query.ts';
import type { AlertsView } from './alerts-search.ts';
import { MaintenanceWindows } from './maintenance/maintenance-windows.tsx';
import { AlertRuleList } from './rules/alert-rule-list.tsx';

/** Open and resolved alerts, the rules that raise them, and maintenance windows. */
export function AlertsPage() {
  const can = useCan();
  if (can('health:read')) return <Alerts />;
  return (
    <Page title="Alerts">
      <NoPermission permission="health:read" />
    </Page>
  );
}

const DESCRIPTIONS: Record<AlertsView, string> = {
  resolved: 'Past alerts, and why they ended.',
  rules: 'A rule raises an alert when its condition holds. Rules are evaluated after every health check.',
  maintenance: 'Alerts and tickets send nothing during a window. Health checks continue.',
};

function Alerts() {
  const { view, alert } = useSearch({ from: '/in/alerts' });
  const navigate = useNavigate({ from: '/alerts' });
  const open = useQuery(openAlertsQuery);
  const now = useNow();
  useFocusBack(alert);
  const description = view
    ? DESCRIPTIONS[view]
    : open.data
      ? openSummary(open.data.items, now)
      : 'What needs attention now.';
  const isList = view === undefined || view === 'resolved';
  return (
    <Page description={description} title="Alerts">
      <Views />
      {isList ? (
        <div className={alert ? 'list-with-panel with-panel' : 'list-with-panel'}>
          <div className="panel-list">{view === 'resolved' ? <Resolved /> : <Open />}</div>
          {alert && (
            <AlertPanel
              id={alert}
              onClose={() =>
                void navigate({ search: (old) => ({ ...old, alert: undefined }), resetScroll: false })
              }
            />
          )}
        </div>
      ) : view === 'rules' ? (
        <AlertRuleList />
      ) : (
        <MaintenanceWindows />
      )}
    </Page>
  );
}

const VIEWS: readonly { view: AlertsView | undefined; label: string }[] = [
  { view: undefined, label: 'Open' },
  { view: 'resolved', label: 'Resolved' },
  { view: 'rules', label: 'Rules' },
  { view: 'maintenance', label: 'Maintenance' },
];

function Views() {
  return (
    <nav aria-label="Alerts">
      <ul className="page-views alert-views">
        {VIEWS.map(({ view, label }) => (
          <li key={label}>
            <Link
              activeOptions={{ includeSearch: true, explicitUndefined: true }}
              className="page-view"
              search={{ view }}
              to="/alerts"
            >
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Open() {
  const list = useQuery(openAlertsQuery);
  return (
    <Loaded query={list}>
      {({ items }) => (items.length === 0 ? <NothingOpen /> : <OpenAlerts alerts={items} />)}
    </Loaded>
  );
}

function NothingOpen() {
  return (
    <Message
      actions={
        <ButtonLink search={{ view: 'rules' }} to="/alerts">
          Show rules
        </ButtonLink>
      }
      icon="check"
      title="No open alerts"
    >
      A rule opens an alert when its condition holds, such as a score below 50. It is sent to your{' '}
      <Link to="/notifications">destinations</Link>.
    </Message>
  );
}

function Resolved() {
  const list = useInfiniteQuery(resolvedAlertsQuery);
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const alerts = pages.flatMap(({ items }) => items);
        return alerts.length === 0 ? (
          <Message icon="clock" title="No resolved alerts">
            An alert is resolved when its condition no longer holds.
          </Message>
        ) : (
          <>
            <ResolvedAlerts
              alerts={alerts}
              onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
            />
            <MoreButton list={list} />
          </>
        );
      }}
    </Loaded>
  );
}

/** Returns the focus to an alert's row when the alert is closed. */
function useFocusBack(open: string | undefined): void {
  const last = useRef(open);
  useEffect(() => {
    if (last.current && !open) document.getElementById(alertLinkId(last.current))?.focus();
    last.current = open;
  }, [open]);
}
