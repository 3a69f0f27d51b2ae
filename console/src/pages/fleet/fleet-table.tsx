import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { FleetRow } from '../../../../src/console-api/fleet/fleet-routes.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import type { FleetRange } from '../../../../src/vocabulary/fleet-ranges.ts';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { SelectBox } from '../../parts/selection.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { type Status, StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Tags } from '../../parts/tags.tsx';
import { ago, duration, Time, useNow } from '../../parts/time.tsx';
import { useMedia } from '../../parts/use-media.ts';
import { FleetLine } from './fleet-line.tsx';
import { ActiveNow, BlockedNow, ReplicaLag, Throughput } from './fleet-now.tsx';
import type { FleetSearch } from './fleet-search.ts';
import { trendText } from './trend-text.ts';

/** A stale connection is never shown as healthy. */
export function shownStatus({ status, stale }: FleetRow): Status {
  return stale && status === 'healthy' ? 'stale' : status;
}

const SELECT: Column<FleetRow> = {
  header: 'Selected',
  hideHeader: true,
  cell: ({ id, name }) => <SelectBox id={id} label={`connection ${name}`} />,
  width: '1.75rem',
  narrow: 'corner',
};

// The ids of sortable columns are the route's `sort` values.
const FIRST: readonly Column<FleetRow>[] = [
  {
    id: 'worst',
    header: 'Status',
    width: '6rem',
    isSortable: true,
    cell: (row) => (
      <>
        <StatusMark quiet status={shownStatus(row)} />
        {row.in_maintenance && <span className="second-line">in maintenance</span>}
      </>
    ),
  },
  {
    id: 'name',
    header: 'Connection',
    width: 'minmax(6.25rem, 1fr)',
    isSortable: true,
    narrow: 'lead',
    cell: ({ id, name, engine, version, host, port, tags }) => (
      <>
        <Link className="row-link" params={{ id: String(id) }} to="/connections/$id">
          <bdi className="two-lines">{name}</bdi>
        </Link>{' '}
        <span className="second-line">
          {ENGINE_NAMES[engine]} {version} · <bdi>{host.startsWith('/') ? host : `${host}:${port}`}</bdi>
        </span>
        {tags.length > 0 && <Tags most={3} tags={tags} />}
      </>
    ),
  },
];

const live = (header: string, width: string, cell: Column<FleetRow>['cell']): Column<FleetRow> => ({
  header,
  width,
  align: 'end',
  cell,
});

const WIDE: readonly Column<FleetRow>[] = [
  live('Active', '4rem', ({ id }) => <ActiveNow id={id} />),
  live('Blocked', '4.5rem', ({ id }) => <BlockedNow id={id} />),
  live('Throughput', '7.5rem', ({ id }) => <Throughput id={id} />),
  live('Replica lag', '6rem', ({ id }) => <ReplicaLag id={id} />),
];

/** Without room for four columns: what goes together, one above the other. */
const COMPACT: readonly Column<FleetRow>[] = [
  live('Active', '4.5rem', ({ id }) => (
    <>
      <ActiveNow id={id} />
      <BlockedNow id={id} isBelow />
    </>
  )),
  live('Throughput', '5.25rem', ({ id }) => (
    <>
      <Throughput id={id} />
      <ReplicaLag id={id} isBelow />
    </>
  )),
];

const SCORE: Column<FleetRow> = {
  id: 'score',
  header: 'Score',
  width: '6rem',
  isSortable: true,
  cell: ({ score, trend }) =>
    score === null ? (
      <span className="quiet">No score</span>
    ) : (
      <span className="score-trend">
        <strong>{score}</strong>
        <Sparkline label={trendText(trend)} values={trend} />
      </span>
    ),
};

const LAST: readonly Column<FleetRow>[] = [
  {
    header: 'Worst finding',
    width: 'minmax(6.25rem, 1fr)',
    cell: (row) => <WorstFinding row={row} />,
  },
  {
    id: 'last_checked_at',
    header: 'Last check',
    width: 'minmax(6.75rem, 0.4fr)',
    isSortable: true,
    cell: (row) => <LastCheck row={row} />,
  },
];

function WorstFinding({ row: { worst, last_checked_at, open_tickets } }: { row: FleetRow }) {
  if (!last_checked_at) return <span className="quiet no-check">–</span>;
  if (!worst) return <span className="quiet">No problems</span>;
  return (
    <>
      <bdi className="two-lines">{worst.title}</bdi>{' '}
      <span className="second-line">
        {worst.severity} ·{' '}
        {open_tickets === null ? <span className="mono">{worst.check_id}</span> : openText(open_tickets)}
      </span>
    </>
  );
}

function openText(tickets: number): string {
  return tickets === 1 ? 'one open ticket' : `${tickets.toLocaleString('en')} open tickets`;
}

/** The time of the last check; marks a stale row whose status does not say so. */
function LastCheck({ row }: { row: FleetRow }) {
  const now = useNow();
  const { last_checked_at, next_due_at, interval_seconds, stale } = row;
  return (
    <>
      {last_checked_at ? <Time at={last_checked_at} /> : <span className="quiet">never</span>}
      {stale ? (
        <span className="second-line">
          {shownStatus(row) !== 'stale' && <StatusMark quiet status="stale" />}
          {interval_seconds !== null && ` due every ${duration(interval_seconds)}`}
        </span>
      ) : (
        next_due_at && (
          <span className="second-line">
            {Date.parse(next_due_at) > now ? `next ${ago(next_due_at, now)}` : 'due now'}
          </span>
        )
      )}
    </>
  );
}

/** The vital sign that the lines of the table show. */
export interface LinesOf {
  metric: string;
  title: string;
  unit: Unit;
  range: FleetRange;
}

function linesColumn(lines: LinesOf): Column<FleetRow> {
  return {
    id: 'lines',
    header: lines.title,
    width: '7rem',
    cell: ({ id }) => <FleetLine {...lines} connectionId={id} />,
  };
}

interface FleetTableProps {
  rows: readonly FleetRow[];
  sort: FleetSearch['sort'];
  onSort: (sort: FleetSearch['sort']) => void;
  /** Null: the lines show scores. */
  lines: LinesOf | null;
}

/** One row per connection. A header sorts by its column, ascending; pressed again, it restores worst first. */
export function FleetTable({ rows, sort = 'worst', onSort, lines }: FleetTableProps) {
  const isWide = useMedia('(min-width: 105rem)');
  const columns = useMemo(
    () => [
      SELECT,
      ...FIRST,
      ...(isWide ? WIDE : COMPACT),
      SCORE,
      ...(lines ? [linesColumn(lines)] : []),
      ...LAST,
    ],
    [lines, isWide],
  );
  return (
    <Table
      columns={columns}
      hasKeyboardNavigation
      label="Connections"
      onSort={({ column }) => onSort(column === sort ? undefined : (column as FleetSearch['sort']))}
      rowHeight={isWide ? 41 : 61}
      rowKey={(row) => row.id}
      rows={rows}
      sort={{ column: sort, descending: false }}
    />
  );
}
