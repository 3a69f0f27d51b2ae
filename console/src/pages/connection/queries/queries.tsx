import './queries.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ConnectionSettings } from '../../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionQueries } from '../../../../../src/console-api/queries/query-schemas.ts';
import { read } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { useChartGroup } from '../../../parts/chart/chart-group.tsx';
import { searchOf } from '../../../parts/chart/chart-range.ts';
import { RangeSwitch } from '../../../parts/chart/range-switch.tsx';
import { Select } from '../../../parts/field.tsx';
import { Filters, Section } from '../../../parts/page.tsx';
import { InlineError, Loaded, Message, SkeletonRows } from '../../../parts/states.tsx';
import { Table } from '../../../parts/table.tsx';
import { useCan } from '../../../shell/profile.ts';
import { type ConnectionSearch, connectionSearch } from '../connection-search.ts';
import { queryColumns } from './query-columns.tsx';
import { useQueryTexts } from './query-texts.ts';
import { TextsDialog } from './texts-dialog.tsx';

const LISTED = 50;

/** What the queries of a connection's server did, most time first; by their texts, where those are stored. */
export function Queries({ settings }: { settings: ConnectionSettings }) {
  const can = useCan();
  const { span } = useChartGroup();
  const { database, role, application, own } = useSearch({ from: '/in/connections/$id' });
  const navigate = useNavigate({ from: '/connections/$id' });
  const show = (changed: ConnectionSearch) =>
    void navigate({
      search: (old) => connectionSearch({ ...old, tab: 'queries', ...changed }),
      replace: true,
      resetScroll: false,
    });
  const [isChanging, setChanging] = useState(false);
  const asked = { ...searchOf(span), limit: LISTED, database, role, application, own };
  const query = useQuery({
    ...read<ConnectionQueries>(`/connections/${settings.id}/queries`, asked),
    placeholderData: keepPreviousData,
  });
  const texts = useQueryTexts(settings, query.data?.queries.map((one) => one.query) ?? []);
  const { engine, query_texts } = settings;
  const allSeconds = query.data?.all_seconds ?? 0;
  const found = texts.data;
  const columns = useMemo(
    () => queryColumns({ engine, allSeconds, texts: found }),
    [engine, allSeconds, found],
  );
  return (
    <Section
      actions={
        can('connections:write') && (
          <Button onPress={() => setChanging(true)}>
            {query_texts ? 'Stop storing texts' : 'Store texts'}
          </Button>
        )
      }
      description={
        query_texts || !can('connections:write')
          ? 'The queries with the most time. Kept for 14 days: 50 of each hour.'
          : 'The queries with the most time, by id, because their texts are not stored. Kept for 14 days: 50 of each hour.'
      }
      title="Queries"
    >
      <Filters>
        <NameFilter
          all="All databases"
          names={query.data?.databases}
          onChange={(name) => show({ database: name })}
          value={database}
        />
        <NameFilter
          all="All roles"
          names={query.data?.roles}
          onChange={(name) => show({ role: name })}
          value={role}
        />
        <NameFilter
          all="All applications"
          names={query.data?.applications}
          onChange={(name) => show({ application: name })}
          value={application}
        />
        <RangeSwitch hasCharts={false} />
      </Filters>
      <InlineError error={texts.error} />
      <Loaded query={query}>
        {({ queries, hidden_role }) => (
          <>
            {queries.length === 0 ? (
              <Message icon="clock" title="No queries in this range">
                {engine === 'postgres'
                  ? 'Needs pg_stat_statements, pg_monitor and two checks.'
                  : 'Needs performance_schema, SELECT on it and two checks.'}
              </Message>
            ) : texts.isLoading ? (
              <SkeletonRows />
            ) : (
              <Table
                columns={columns}
                label="Queries"
                rowKey={({ query: id, database: place, role: by }) => `${id} ${place} ${by}`}
                rows={queries}
              />
            )}
            {(hidden_role !== null || own) && (
              <p className="quiet">
                {own ? 'Queries of dbvitals itself are listed.' : 'Queries of dbvitals itself are hidden.'}{' '}
                <Button kind="quiet" onPress={() => show({ own: own ? undefined : 'shown' })} small>
                  {own ? 'Hide them' : 'Show them'}
                </Button>
              </p>
            )}
          </>
        )}
      </Loaded>
      {isChanging && <TextsDialog onClose={() => setChanging(false)} settings={settings} />}
    </Section>
  );
}

interface NameFilterProps {
  /** No filter, such as "All roles". */
  all: string;
  names: readonly string[] | undefined;
  value: string | undefined;
  onChange: (name: string | undefined) => void;
}

/** A filter by a name of the watched server; nothing if there is no choice. */
function NameFilter({ all, names = [], value, onChange }: NameFilterProps) {
  const given = [...new Set([...names, value ?? ''])].filter((name) => name !== '');
  if (given.length < 2 && value === undefined) return null;
  return (
    <Select
      choices={[{ id: '', label: all }, ...given.map((id) => ({ id, label: id }))]}
      hideLabel
      label={all}
      onChange={(id) => onChange(id === '' ? undefined : id)}
      value={value ?? ''}
    />
  );
}
