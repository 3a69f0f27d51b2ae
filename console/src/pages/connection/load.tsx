import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { Episodes } from '../../../../src/console-api/episodes/episode-schemas.ts';
import type { ConnectionLoad } from '../../../../src/console-api/load/load-schemas.ts';
import { LOAD_DIMENSION_NAMES, type LoadDimension } from '../../../../src/vocabulary/load-dimensions.ts';
import { read } from '../../api.ts';
import { Chart } from '../../parts/chart/chart.tsx';
import { useChartGroup } from '../../parts/chart/chart-group.tsx';
import type { ChartChange } from '../../parts/chart/chart-markers.tsx';
import { type Span, searchOf } from '../../parts/chart/chart-range.ts';
import { RangeSwitch } from '../../parts/chart/range-switch.tsx';
import { valueText } from '../../parts/chart/value-text.ts';
import { Select } from '../../parts/field.tsx';
import { counted } from '../../parts/figure.ts';
import { Section } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration } from '../../parts/time.tsx';

/** A minute is stored when it is over. */
const RENEWED_MS = 60_000;

const WORDS: Record<LoadDimension, string> = {
  wait: 'By wait',
  query: 'By query',
  role: 'By role',
  application: 'By application',
  database: 'By database',
};
const CHOICES = LOAD_DIMENSION_NAMES.map((id) => ({ id, label: WORDS[id] }));

function loadQuery(id: string, by: LoadDimension, span: Span, query: string | undefined) {
  return {
    ...read<ConnectionLoad>(`/connections/${encodeURIComponent(id)}/load`, { by, query, ...searchOf(span) }),
    placeholderData: keepPreviousData,
    staleTime: RENEWED_MS,
    gcTime: RENEWED_MS,
  };
}

interface LoadProps {
  connectionId: string;
  /** Only the sessions that ran this one. */
  query?: string;
}

/** What the sessions of a server did over time: how many ran, waited, or were idle in a transaction. */
export function Load({ connectionId, query: only }: LoadProps) {
  const { span } = useChartGroup();
  const [by, setBy] = useState<LoadDimension>('wait');
  const query = useQuery(loadQuery(connectionId, by, span, only));
  const markers = useEpisodeMarkers(connectionId, span);
  const series = useMemo(() => seriesIn(query.data, by), [query.data, by]);
  return (
    <Section
      actions={
        <>
          <Select
            choices={only === undefined ? CHOICES : CHOICES.filter(({ id }) => id !== 'query')}
            hideLabel
            label="Split the load"
            onChange={(chosen) => setBy(LOAD_DIMENSION_NAMES.find((name) => name === chosen) ?? 'wait')}
            value={by}
          />
          {only === undefined && <RangeSwitch />}
        </>
      }
      description={`${only === undefined ? 'Sessions that run, wait,' : 'Sessions that run this query, wait in it,'} or are idle in a transaction, on average. Drag over the chart to zoom.`}
      title={only === undefined ? 'Load' : 'Waits'}
    >
      <Loaded query={query}>
        {(load) =>
          load.at.length === 0 || (only !== undefined && load.parts.length === 0) ? (
            <p className="quiet">
              {load.at.length === 0
                ? 'No load was measured in this range.'
                : 'No pulse saw a session with this query in this range.'}
            </p>
          ) : (
            <div className="measures">
              <h3 className="hidden-text">Load over time</h3>
              <div className="load-chart">
                <Chart changes={markers} isStacked series={series} title="Sessions at work" unit="count" />
              </div>
              <Top by={by} load={load} />
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}

type Part = ConnectionLoad['top'][number];

/** The largest parts of the range, or of the zoom, that the chart shows. */
function Top({ load: { top }, by }: { load: ConnectionLoad; by: LoadDimension }) {
  const all = top.reduce((sum, { sessions }) => sum + sessions, 0);
  const columns: Column<Part>[] = [
    {
      header: 'Largest in this range',
      narrow: 'lead',
      cell: (part) => <PartName by={by} part={part} />,
    },
    {
      header: 'Sessions',
      width: '6rem',
      align: 'end',
      cell: ({ sessions }) => valueText(sessions, 'count'),
    },
    {
      header: 'Share',
      width: '5rem',
      align: 'end',
      cell: ({ sessions }) => valueText(sessions / all, 'ratio'),
    },
  ];
  const rowKey = ({ state, names }: Part) => JSON.stringify([state, ...names]);
  return (
    <details>
      <summary className="small">Show the largest parts of this range</summary>
      <Table columns={columns} label="Largest parts of the load" rowKey={rowKey} rows={top} />
    </details>
  );
}

function PartName({ part: { state, names }, by }: { part: Part; by: LoadDimension }) {
  if (state === null) return 'others';
  const name = names.filter(Boolean).join(': ');
  const fallback = by === 'wait' ? 'running' : 'unknown';
  return (
    <>
      {name === '' ? fallback : <bdi className="mono">{name}</bdi>}
      {state !== 'active' && <span className="quiet"> ({state})</span>}
    </>
  );
}

/** The largest part first, so that it is at the bottom. */
function seriesIn(load: ConnectionLoad | undefined, by: LoadDimension) {
  return (load?.parts ?? []).map(({ name, sessions }, id) => ({
    id,
    label: partText(name, by),
    points: { at: load?.at ?? [], last: sessions },
  }));
}

function partText(name: string | null, by: LoadDimension): string {
  if (name === null) return 'others';
  if (by === 'wait') return name === 'running' || name.startsWith('idle') ? name : `waits for ${name}`;
  return name === '' ? 'unknown' : name;
}

function useEpisodeMarkers(connectionId: string, span: Span): ChartChange[] {
  const { data } = useQuery({
    ...read<Episodes>(`/connections/${encodeURIComponent(connectionId)}/episodes`, searchOf(span)),
    placeholderData: keepPreviousData,
    staleTime: RENEWED_MS,
    gcTime: RENEWED_MS,
  });
  return useMemo(
    () =>
      (data?.episodes ?? []).map(({ began_at, role, most_sessions, longest_seconds }, id) => ({
        id,
        at: Date.parse(began_at) / 1_000,
        text: `${role || 'A session'} blocked ${counted(most_sessions, 'session')} for up to ${duration(longest_seconds)}`,
      })),
    [data],
  );
}
