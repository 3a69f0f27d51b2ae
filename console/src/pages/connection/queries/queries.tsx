import './queries.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ConnectionSettings } from '../../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionQueries } from '../../../../../src/console-api/queries/query-schemas.ts';
import { get } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { Select } from '../../../parts/field.tsx';
import { Section } from '../../../parts/page.tsx';
import { Loaded, Message } from '../../../parts/states.tsx';
import { Table } from '../../../parts/table.tsx';
import { useCan } from '../../../shell/profile.ts';
import { connectionSearch } from '../connection-search.ts';
import { queryColumns } from './query-columns.tsx';
import { QueryTextDialog } from './query-text-dialog.tsx';
import { showQuery } from './show-query.ts';
import { TextsDialog } from './texts-dialog.tsx';

const DAYS = [
  { id: '1', label: 'Last 24 hours' },
  { id: '7', label: 'Last 7 days' },
  { id: '14', label: 'Last 14 days' },
] as const;

const LISTED = 50;

/** What the queries of a connection's server did, without their text, most time first. */
export function Queries({ settings }: { settings: ConnectionSettings }) {
  const can = useCan();
  const { days = '1', query: shown } = useSearch({ from: '/in/connections/$id' });
  const navigate = useNavigate({ from: '/connections/$id' });
  const show = useCallback(
    (changed: { days: string } | { query: string | undefined }) =>
      void navigate({
        search: (old) => connectionSearch({ ...old, ...changed }),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const [isChanging, setChanging] = useState(false);
  const mayRead = can('connections:write');
  const hasTexts = mayRead && settings.query_texts;
  const query = useQuery({
    queryKey: ['connections', String(settings.id), 'queries', days],
    queryFn: ({ signal }) =>
      get<ConnectionQueries>(
        `/connections/${settings.id}/queries`,
        { from: new Date(Date.now() - Number(days) * 86_400_000).toISOString(), limit: LISTED },
        signal,
      ),
    placeholderData: keepPreviousData,
  });
  const { hash } = useLocation();
  const isListed = query.data !== undefined;
  useEffect(() => {
    if (isListed) showQuery(hash);
  }, [isListed, hash]);
  const { engine, query_texts } = settings;
  const allSeconds = query.data?.all_seconds ?? 0;
  const columns = useMemo(
    () => queryColumns({ engine, allSeconds, onText: hasTexts ? (query) => show({ query }) : null }),
    [engine, allSeconds, hasTexts, show],
  );
  return (
    <div id="queries">
      <Section
        actions={
          <>
            <div className="change-filter">
              <Select
                choices={DAYS}
                hideLabel
                label="Range of queries"
                onChange={(chosen) => show({ days: chosen })}
                value={days}
              />
            </div>
            {mayRead && (
              <Button onPress={() => setChanging(true)}>
                {query_texts ? 'Stop storing texts' : 'Store texts'}
              </Button>
            )}
          </>
        }
        description="The queries with the most time, by id. Kept for 14 days: 50 of each hour."
        title="Queries"
      >
        <Loaded query={query}>
          {({ queries }) =>
            queries.length === 0 ? (
              <Message icon="clock" title="No queries in this range">
                {engine === 'postgres'
                  ? 'Needs pg_stat_statements, pg_monitor and two checks.'
                  : 'Needs performance_schema, SELECT on it and two checks.'}
              </Message>
            ) : (
              <Table
                columns={columns}
                label="Queries"
                rowKey={({ query: id, database, role }) => `${id} ${database} ${role}`}
                rows={queries}
              />
            )
          }
        </Loaded>
        {shown !== undefined && hasTexts && (
          <QueryTextDialog
            connectionId={settings.id}
            onClose={() => show({ query: undefined })}
            query={shown}
          />
        )}
        {isChanging && <TextsDialog onClose={() => setChanging(false)} settings={settings} />}
      </Section>
    </div>
  );
}
