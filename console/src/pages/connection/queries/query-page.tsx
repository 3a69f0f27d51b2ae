import '../../../measures/measures.css';
import './queries.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ConnectionChanges } from '../../../../../src/console-api/changes/change-schemas.ts';
import type { ConnectionDetail } from '../../../../../src/console-api/connections/connection-schemas.ts';
import type { ExplainedFinding } from '../../../../../src/console-api/connections/findings.ts';
import type { QueryHistory } from '../../../../../src/console-api/queries/query-schemas.ts';
import type { Unit } from '../../../../../src/vocabulary/units.ts';
import { read } from '../../../api.ts';
import { chartChange } from '../../../measures/measure-chart.tsx';
import { markedChangesQuery } from '../../../measures/measures-query.ts';
import { ChangeList } from '../../../parts/changes/change-list.tsx';
import { Chart } from '../../../parts/chart/chart.tsx';
import { useChartGroup } from '../../../parts/chart/chart-group.tsx';
import { searchOf } from '../../../parts/chart/chart-range.ts';
import { RangeSwitch } from '../../../parts/chart/range-switch.tsx';
import { valueText } from '../../../parts/chart/value-text.ts';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Facts, Section } from '../../../parts/page.tsx';
import { InlineError, Loaded } from '../../../parts/states.tsx';
import { local } from '../../../parts/time.tsx';
import { listSearch } from '../connection-search.ts';
import { Load } from '../load.tsx';
import { ProblemList } from '../problems.tsx';
import { countText } from './count-text.ts';
import { findJump, type Jump } from './jump.ts';
import { useQueryTexts } from './query-texts.ts';

type Hour = QueryHistory['hours'][number];

interface QueryPageProps {
  detail: ConnectionDetail;
  query: string;
  /** Of all databases and roles, unless one is given. */
  database: string | undefined;
  role: string | undefined;
}

/** One query: its text, what it did over time, what it waited for, what is wrong with it, and what changed when it jumped. */
export function QueryPage({ detail, query, database, role }: QueryPageProps) {
  const { settings } = detail;
  const id = String(settings.id);
  const { span } = useChartGroup();
  const asked = { query, database, role, ...searchOf(span) };
  const history = useQuery({
    ...read<QueryHistory>(`/connections/${id}/queries/history`, asked),
    placeholderData: keepPreviousData,
  });
  const texts = useQueryTexts(settings, [query]);
  const text = texts.data?.get(query);
  const findings = detail.latest?.findings.filter((finding) => isAbout(finding, query)) ?? [];
  return (
    <>
      <Section
        actions={<RangeSwitch />}
        description={
          <Link params={{ id }} from="/connections/$id" search={listSearch} to="/connections/$id">
            ← All queries
          </Link>
        }
        title="Query"
      >
        <InlineError error={texts.error} />
        {text !== undefined && <CodeBlock text={text} what="query text" />}
        {texts.data && text === undefined && (
          <p className="quiet">No text is stored yet. The next check stores it if the query still runs.</p>
        )}
        <Loaded query={history}>
          {({ hours }) => (
            <>
              <Facts
                facts={[
                  [
                    'Id',
                    <bdi className="mono query-id" key="id">
                      {query}
                    </bdi>,
                  ],
                  ...(database ? [['Database', <bdi key="database">{database}</bdi>] as const] : []),
                  ...(role ? [['Role', <bdi key="role">{role}</bdi>] as const] : []),
                  ...totals(hours),
                ]}
              />
              <JumpText jump={findJump(hours)} />
              <HistoryCharts connectionId={id} hours={hours} isPostgres={settings.engine === 'postgres'} />
              <JumpChanges connectionId={id} jump={findJump(hours)} />
            </>
          )}
        </Loaded>
      </Section>
      {findings.length > 0 && (
        <Section title="Findings about this query">
          <ProblemList connectionId={id} findings={findings} />
        </Section>
      )}
      <Load connectionId={id} query={query} />
    </>
  );
}

/** Whether the object of a finding is the query, such as `1234 in shop by app`. */
function isAbout({ check_id, object, status }: ExplainedFinding, query: string): boolean {
  return /_QUER/.test(check_id) && status !== 'ok' && object?.split(' ')[0] === query;
}

function totals(hours: readonly Hour[]): [string, string][] {
  const sum = (name: keyof Hour) => hours.reduce((all, hour) => all + hour[name], 0);
  const calls = sum('calls');
  return [
    ['Calls', countText(calls)],
    ['Time', valueText(sum('seconds'), 'seconds')],
    ['Time of a call', valueText(sum('seconds') / Math.max(1, calls), 'seconds')],
    ['Rows', countText(sum('rows'))],
  ];
}

const perCall = (name: keyof Hour) => (hour: Hour) => hour[name] / Math.max(1, hour.calls);

const charts = (reads: string): [title: string, unit: Unit, value: (hour: Hour) => number][] => [
  ['Time of a call', 'seconds', perCall('seconds')],
  ['Calls in an hour', 'count', ({ calls }) => calls],
  ['Rows of a call', 'count', perCall('rows')],
  [`${reads} by a call`, 'count', perCall('read')],
];

interface HistoryChartsProps {
  connectionId: string;
  hours: readonly Hour[];
  isPostgres: boolean;
}

/** What the query did hour by hour. */
function HistoryCharts({ connectionId, hours, isPostgres }: HistoryChartsProps) {
  const { span } = useChartGroup();
  const { data } = useQuery(markedChangesQuery(connectionId, span));
  const changes = useMemo(() => data?.changes.map(chartChange), [data]);
  const at = hours.map((hour) => hour.at);
  return (
    <div className="measures">
      <h3 className="hidden-text">Hour by hour</h3>
      <div className="measure-grid">
        {charts(isPostgres ? 'Blocks read' : 'Rows examined').map(([title, unit, value]) => (
          <Chart
            key={title}
            series={[{ id: 0, label: title, points: { at, last: hours.map(value), resolution: 'hour' } }]}
            title={title}
            unit={unit}
            {...(changes && { changes })}
          />
        ))}
      </div>
    </div>
  );
}

/** When a call became slower or faster. */
function JumpText({ jump }: { jump: Jump | null }) {
  if (jump === null) return null;
  const { at, before, after } = jump;
  return (
    <p>
      A call takes {valueText(after, 'seconds')} since {local(new Date(at * 1_000))}, and took{' '}
      {valueText(before, 'seconds')} before.
    </p>
  );
}

/** The changes of so many seconds before and after the beginning of the hour of a jump are listed. */
const BEFORE_S = 7_200;
const AFTER_S = 3_600;

/** What else changed around the hour in which a call became slower or faster. */
function JumpChanges({ connectionId, jump }: { connectionId: string; jump: Jump | null }) {
  const range = searchOf({ from: (jump?.at ?? 0) - BEFORE_S, to: (jump?.at ?? 0) + AFTER_S });
  const query = useQuery({
    ...read<ConnectionChanges>(`/connections/${connectionId}/changes`, { ...range, limit: 25 }),
    enabled: jump !== null,
  });
  if (jump === null) return null;
  const changes = query.data?.changes ?? [];
  return (
    <>
      <h3>What changed around {local(new Date(jump.at * 1_000))}</h3>
      {changes.length > 0 ? (
        <ChangeList changes={changes} label="Changes around that time" />
      ) : (
        <p className="quiet">{query.data && 'Nothing that dbvitals records.'}</p>
      )}
    </>
  );
}
