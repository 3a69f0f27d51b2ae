import './alerts.css';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ButtonLink } from '../../parts/button-link.tsx';
import { useFocusBack } from '../../parts/focus-back.ts';
import { MoreButton } from '../../parts/more-button.tsx';
import { Page } from '../../parts/page.tsx';
import { PageView, PageViews } from '../../parts/page-views.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { useNow } from '../../parts/time.tsx';
import { OpenAlerts, ResolvedAlerts } from './alert-list.tsx';
import { AlertPanel } from './alert-panel.tsx';
import { openSummary } from './alert-text.ts';
import { openAlertsQuery, resolvedAlertsQuery } from './alerts-query.ts';
import type { AlertsSearch, AlertsView } from './alerts-search.ts';
import { MaintenanceWindows } from './maintenance/maintenance-windows.tsx';
import { AlertRuleList } from './rules/alert-rule-list.tsx';

const DESCRIPTIONS: Record<AlertsView, string> = {
  resolved: 'Past alerts, and why they ended.',
  rules: 'A rule raises an alert when its condition holds. Rules are evaluated after every health check.',
  maintenance: 'Alerts and tickets send nothing during a window. Health checks continue.',
};

/** Open and resolved alerts, the rules that raise them, and maintenance windows. */
export function AlertsPage() {
  const { view, alert }: AlertsSearch = useSearch({ from: '/in/alerts' });
  const navigate = useNavigate({ from: '/alerts' });
  const open = useQuery(openAlertsQuery);
  const now = useNow();
  const focusBack = useFocusBack(alert, 'alert');
  const close = () => {
    focusBack();
    void navigate({ search: (old) => ({ ...old, alert: undefined }), resetScroll: false });
  };
  const description = view
    ? DESCRIPTIONS[view]
    : open.data
      ? openSummary(open.data.items, now)
      : 'What needs attention now.';
  const isList = view === undefined || view === 'resolved';
  return (
    <Page description={description} title="Alerts">
      <Views open={view} />
      {isList ? (
        <div className={alert ? 'list-with-panel with-panel' : 'list-with-panel'}>
          <div className="panel-list">{view === 'resolved' ? <Resolved /> : <Open />}</div>
          {alert && <AlertPanel id={alert} onClose={close} />}
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

function Views({ open }: { open: AlertsView | undefined }) {
  return (
    <PageViews label="Alerts">
      {VIEWS.map(({ view, label }) => (
        <PageView isOpen={view === open} key={label} search={{ view }} to="/alerts">
          {label}
        </PageView>
      ))}
    </PageViews>
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
            <ResolvedAlerts alerts={alerts} pages={list} />
            <MoreButton list={list} />
          </>
        );
      }}
    </Loaded>
  );
}
