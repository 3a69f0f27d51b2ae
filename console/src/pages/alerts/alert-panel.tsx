import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AlertDetail } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { send } from '../../api.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { rangeAround } from '../../parts/chart/chart-range.ts';
import { Remedy } from '../../parts/finding-explanation.tsx';
import { FindingPlace } from '../../parts/finding-place.tsx';
import { Facts } from '../../parts/page.tsx';
import { readableLine } from '../../parts/readable-text.ts';
import { PanelHeading, SidePanel } from '../../parts/side-panel.tsx';
import { InlineError, Loaded } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useCan } from '../../shell/profile.ts';
import { AcknowledgeDialog } from './acknowledge-dialog.tsx';
import { AlertDeliveries } from './alert-deliveries.tsx';
import { AlertState } from './alert-state.tsx';
import { alertValue, isAcknowledged, OPERATORS } from './alert-text.ts';
import { alertQuery } from './alerts-query.ts';

/** An alert beside the list, or instead of it on narrow screens: what holds, what was sent, and its history. */
export function AlertPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(alertQuery(id));
  return (
    <SidePanel id={id} kind="alert" onClose={onClose}>
      <Loaded query={query}>{(alert) => <AlertContent alert={alert} key={alert.id} />}</Loaded>
    </SidePanel>
  );
}

function AlertContent({ alert }: { alert: AlertDetail }) {
  return (
    <div className="panel-content">
      <div>
        <div className="panel-marks">
          <StatusMark status={alert.severity} />
          <StatusMark status={alert.state} />
        </div>
        <PanelHeading>{alert.rule_name}</PanelHeading>
        <FindingPlace of={alert} />
      </div>
      <p>
        <bdi>{readableLine(alert.metric_line)}</bdi>
      </p>
      {alert.state === 'open' && <Actions alert={alert} />}
      <AlertFacts alert={alert} />
      {alert.remediation !== null && <Remedy lock={null} sql={alert.remediation} />}
      <AlertChart alert={alert} />
      <AlertDeliveries deliveries={alert.deliveries} />
    </div>
  );
}

function Actions({ alert }: { alert: AlertDetail }) {
  const can = useCan();
  const now = useNow();
  const [isAsking, setAsking] = useState(false);
  const undo = useAction({
    request: () => send('POST', `/alerts/${alert.id}/unacknowledge`, {}),
    renews: ['alerts'],
    done: 'Alert no longer acknowledged',
  });
  return (
    <div className="alert-actions">
      <AlertState alert={alert} />
      {can('connections:write') && (
        <div className="page-actions">
          <Button icon="check" kind="primary" onPress={() => setAsking(true)}>
            {isAcknowledged(alert.acknowledged, now) ? 'Acknowledge again' : 'Acknowledge'}
          </Button>
          {alert.acknowledged !== null && (
            <Button isPending={undo.isPending} onPress={() => undo.mutate()}>
              Unacknowledge
            </Button>
          )}
          {!alert.connection_removed && alert.check_id && (
            <ButtonLink icon="silent" params={{ id: String(alert.connection_id) }} to="/connections/$id">
              Silence a finding
            </ButtonLink>
          )}
        </div>
      )}
      <InlineError error={undo.error} />
      {isAsking && <AcknowledgeDialog alert={alert} onClose={() => setAsking(false)} />}
    </div>
  );
}

function AlertFacts({ alert }: { alert: AlertDetail }) {
  const { kind, unit, value, worst, operator, threshold, since, resolved_at, resolution, reminded_at } =
    alert;
  const shown = (number: number) => alertValue(kind, unit, number);
  return (
    <Facts
      facts={[
        ['Value', shown(value)],
        ...(worst === value ? [] : [['Worst', shown(worst)] as const]),
        ['Threshold', `${OPERATORS[operator]} ${shown(threshold)}`],
        ['Since', <Time at={since} key="since" />],
        ...(resolved_at === null ? [] : [['Resolved', <Time at={resolved_at} key="resolved" />] as const]),
        ...(resolution === null ? [] : [['Why', <bdi key="why">{resolution}</bdi>] as const]),
        ...(reminded_at === null ? [] : [['Reminded', <Time at={reminded_at} key="reminded" />] as const]),
      ]}
    />
  );
}

/** The history of the value that an alert compares; nothing for an alert that compares no measured value. */
function AlertChart({ alert }: { alert: AlertDetail }) {
  const [search, setSearch] = useState(() => rangeAround(alert.since, alert.resolved_at));
  const { kind, check_id, metric, value, operator, threshold, database, object } = alert;
  if (alert.connection_removed || kind !== 'measure' || check_id === null) return null;
  const measured = { metric, value, operator: operator.startsWith('<') ? '<=' : '>=', threshold } as const;
  return (
    <ChartGroup onSearch={setSearch} search={search}>
      <FindingChart
        connectionId={String(alert.connection_id)}
        finding={{ check_id, measured, database, object }}
      />
    </ChartGroup>
  );
}
