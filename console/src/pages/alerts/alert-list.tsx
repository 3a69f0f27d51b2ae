import { Link } from '@tanstack/react-router';
import type { Alert } from '../../../../src/console-api/alerts/alert-schemas.ts';
import type { Pages } from '../../parts/more-button.tsx';
import { RowPlace } from '../../parts/row-place.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { AlertState } from './alert-state.tsx';
import { crossedText } from './alert-text.ts';

function AlertLink({ alert }: { alert: Alert }) {
  const { id, rule_name, severity, resolved_at } = alert;
  return (
    <>
      <Link
        className="row-link"
        from="/alerts"
        id={`alert-${id}`}
        resetScroll={false}
        search={(old) => ({ ...old, alert: String(id) })}
        to="/alerts"
      >
        <bdi>{rule_name}</bdi>
      </Link>
      <RowPlace of={alert} />
      <span className="row-marks">
        <StatusMark quiet status={severity} />
        <span className="small">{crossedText(alert)}</span>
        <span className="small quiet">
          {resolved_at === null ? 'since ' : 'resolved '}
          <Time at={resolved_at ?? alert.since} />
        </span>
        <AlertState alert={alert} />
      </span>
    </>
  );
}

// On narrow screens the first cell shows everything.
const COMMON: readonly Column<Alert>[] = [
  {
    header: 'Severity',
    width: '6.5rem',
    narrow: 'hide',
    cell: ({ severity }) => <StatusMark quiet status={severity} />,
  },
  {
    header: 'Alert',
    width: 'minmax(0, 2fr)',
    narrow: 'lead',
    cell: (alert) => <AlertLink alert={alert} />,
  },
  {
    header: 'Value',
    width: 'minmax(0, 1fr)',
    narrow: 'hide',
    cell: (alert) => crossedText(alert),
  },
];

/** When an alert began or ended, and what became of it. */
function endColumns(time: string, state: string): readonly Column<Alert>[] {
  return [
    {
      header: time,
      width: '7.5rem',
      narrow: 'hide',
      cell: ({ resolved_at, since }) => <Time at={resolved_at ?? since} />,
    },
    {
      header: state,
      width: 'minmax(0, 1.1fr)',
      narrow: 'hide',
      cell: (alert) => <AlertState alert={alert} />,
    },
  ];
}

const OPEN = [...COMMON, ...endColumns('Since', 'State')];
const RESOLVED = [...COMMON, ...endColumns('Resolved', 'Why')];

const GRAVITY = { critical: 0, warning: 1, info: 2 };

/** Open alerts: the gravest first, those of a connection together. */
export function OpenAlerts({ alerts }: { alerts: readonly Alert[] }) {
  const rows = alerts.toSorted(
    (a, b) =>
      GRAVITY[a.severity] - GRAVITY[b.severity] || a.connection_name.localeCompare(b.connection_name, 'en'),
  );
  return <Table {...COMMON_PROPS} columns={OPEN} label="Open alerts" rows={rows} />;
}

/** Resolved alerts, latest first. */
export function ResolvedAlerts({ alerts, pages }: { alerts: readonly Alert[]; pages: Pages }) {
  return <Table {...COMMON_PROPS} columns={RESOLVED} label="Resolved alerts" pages={pages} rows={alerts} />;
}

const COMMON_PROPS = { hasKeyboardNavigation: true, rowHeight: 57, rowKey: ({ id }: Alert) => id };
