import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { KeyUsage } from '../../../../src/console-api/keys/key-use-routes.ts';
import { read } from '../../api.ts';
import { Select } from '../../parts/field.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { keysSearch } from './keys-search.ts';
import { KINDS, type Kind, totalOf, type UsageDay, usageByEndpoint, usageDays } from './usage-days.ts';

const KIND_TEXTS: Record<Kind, string> = {
  answered: 'Answered (2xx, 304)',
  refused: 'Refused (other 4xx)',
  limited: 'Over the limit (429)',
};

/** A key's requests of the last 30 days by endpoint and status: a chart by day, and a table. */
export function Usage({ id }: { id: number }) {
  const usage = useQuery({
    ...read<KeyUsage>(`/keys/${id}/usage`),
    refetchInterval: ({ state }) => (state.data?.counted === false ? 3_000 : 60_000),
  });
  return (
    <Loaded query={usage}>
      {({ counted, today, data }) => {
        if (!counted) return <Message icon="clock" title="Counting requests…" />;
        if (data.length === 0) return <Message icon="activity" title="No requests in 30 days" />;
        return <Counted data={data} today={today} />;
      }}
    </Loaded>
  );
}

const ALL = 'all';
const NONE = 'none';
const nameOf = (endpoint: string | null) => endpoint ?? 'Other paths';

function Counted({ data, today }: Pick<KeyUsage, 'data' | 'today'>) {
  const { endpoint: asked = ALL } = useSearch({ from: '/in/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const { statuses, rows } = usageByEndpoint(data);
  const choices = [
    { id: ALL, label: 'All endpoints' },
    ...rows.map(({ endpoint }) => ({ id: endpoint ?? NONE, label: nameOf(endpoint) })),
  ];
  const chosen = choices.some(({ id }) => id === asked) ? asked : ALL;
  const days = usageDays(data, today, chosen === ALL ? undefined : chosen === NONE ? null : chosen);
  return (
    <div className="keys-usage">
      <Select
        choices={choices}
        label="Endpoint"
        onChange={(id) =>
          void navigate({
            search: (old) => keysSearch({ ...old, endpoint: id === ALL ? '' : id }),
            replace: true,
            resetScroll: false,
          })
        }
        value={chosen}
      />
      <Bars days={days} />
      <ul className="keys-usage-legend">
        {KINDS.map((kind) => (
          <li key={kind}>
            <span aria-hidden="true" className={`keys-usage-${kind}`} />
            {KIND_TEXTS[kind]}
          </li>
        ))}
      </ul>
      <Table
        columns={endpointColumns(statuses)}
        label="Use by endpoint"
        rowKey={({ endpoint }) => nameOf(endpoint)}
        rows={rows}
      />
    </div>
  );
}

type EndpointRow = ReturnType<typeof usageByEndpoint>['rows'][number];

function endpointColumns(statuses: readonly number[]): Column<EndpointRow>[] {
  const column = (header: string, count: (row: EndpointRow) => number): Column<EndpointRow> => ({
    header,
    align: 'end',
    width: 'minmax(4rem, 7rem)',
    cell: (row) => count(row).toLocaleString('en'),
  });
  return [
    {
      header: 'Endpoint',
      width: 'minmax(8rem, 1fr)',
      narrow: 'lead',
      cell: ({ endpoint }) => (endpoint === null ? nameOf(endpoint) : <code>{endpoint}</code>),
    },
    ...statuses.map((status) => column(String(status), ({ byStatus }) => byStatus.get(status) ?? 0)),
    column('Total', ({ total }) => total),
  ];
}

const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

/** A bar for each day. The table has the numbers, so that screen readers get a summary here. */
function Bars({ days }: { days: readonly UsageDay[] }) {
  const totals = days.map(totalOf);
  const most = Math.max(...totals, 1);
  const sum = totals.reduce((all, total) => all + total, 0);
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  return (
    <figure className="keys-usage-chart">
      <svg
        aria-label={`Requests by day, ${first} to ${last}: ${sum.toLocaleString('en')} in all, at most ${Math.max(...totals).toLocaleString('en')} a day`}
        preserveAspectRatio="none"
        role="img"
        viewBox={`0 0 ${STEP * days.length} ${HEIGHT}`}
      >
        {days.map((day, at) => {
          let top = HEIGHT;
          return (
            <g key={day.day}>
              <title>{titleOf(day)}</title>
              {/* Also where there is no bar, the day can be pointed at. */}
              <rect fill="transparent" height={HEIGHT} width={STEP} x={at * STEP} y={0} />
              {KINDS.map((kind) => {
                const height = (day[kind] / most) * HEIGHT;
                top -= height;
                return height === 0 ? null : (
                  <rect
                    className={`keys-usage-${kind}`}
                    height={height}
                    key={kind}
                    width={BAR}
                    x={at * STEP + 1}
                    y={top}
                  />
                );
              })}
            </g>
          );
        })}
      </svg>
      <figcaption className="small quiet">
        <span>{first}</span>
        <span>at most {Math.max(...totals).toLocaleString('en')} a day</span>
        <span>{last} (UTC)</span>
      </figcaption>
    </figure>
  );
}

function titleOf(day: UsageDay): string {
  const parts = KINDS.filter((kind) => day[kind] > 0).map(
    (kind) => `${KIND_TEXTS[kind]}: ${day[kind].toLocaleString('en')}`,
  );
  return `${day.day}: ${parts.join(', ') || 'no requests'}`;
}
