import './queries.css';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ConnectionSettings } from '../../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionQueries } from '../../../../../src/console-api/queries/query-schemas.ts';
import { read } from '../../../api.ts';
import { Button } from '../../../parts/button.tsx';
import { useChartGroup } from '../../../parts/chart/chart-group.tsx';
import { searchOf } from '../../../parts/chart/chart-range.ts';
import { useFirstRows } from '../../../parts/first-rows.tsx';
import { Section } from '../../../parts/page.tsx';
import { InlineError, Loaded, Message, SkeletonRows } from '../../../parts/states.tsx';
import { Table } from '../../../parts/table.tsx';
import { useCan } from '../../../shell/profile.ts';
import type { ConnectionSearch } from '../connection-search.ts';
import { useConnectionSearch } from '../use-connection-search.ts';
import { queryColumns } from './query-columns.tsx';
import { QueryFilters } from './query-filters.tsx';
import { useQueryTexts } from './query-texts.ts';
import { TextsDialog } from './texts-dialog.tsx';

const LISTED = 50;
/** How many a phone shows at first. */
const ON_PHONE = 6;

/** What the queries of a connection's server did, most time first; by their texts, where those are stored. */
export function Queries({ settings }: { settings: ConnectionSettings }) {
  const can = useCan();
  const { span } = useChartGroup();
  const [search, changeSearch] = useConnectionSearch();
  const { database, role, application, unnamed, own } = search;
  const show = (changed: ConnectionSearch) => changeSearch({ tab: 'queries', ...changed });
  const [isChanging, setChanging] = useState(false);
  const asked = { ...searchOf(span), limit: LISTED, database, role, application, unnamed, own };
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
      <QueryFilters found={query.data} search={search} show={show} />
      <InlineError error={texts.error} />
      <Loaded query={query}>
        {({ queries, hides_own }) => (
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
              <QueryTable columns={columns} queries={queries} />
            )}
            {(hides_own || own) && (
              <OwnQueries
                engine={engine}
                isShown={own === 'shown'}
                onChange={(shown) => show({ own: shown })}
              />
            )}
          </>
        )}
      </Loaded>
      {isChanging && <TextsDialog onClose={() => setChanging(false)} settings={settings} />}
    </Section>
  );
}

interface QueryTableProps {
  columns: ReturnType<typeof queryColumns>;
  queries: ConnectionQueries['queries'];
}

function QueryTable({ columns, queries }: QueryTableProps) {
  const { rows, more } = useFirstRows(queries, ON_PHONE);
  return (
    <>
      <Table
        columns={columns}
        label="Queries"
        rowKey={({ query: id, database: place, role: by }) => `${id} ${place} ${by}`}
        rows={rows}
      />
      {more}
    </>
  );
}

interface OwnQueriesProps {
  engine: ConnectionSettings['engine'];
  isShown: boolean;
  onChange: (own: ConnectionSearch['own']) => void;
}

/** Whether queries of dbvitals itself are listed. The statistics of MySQL and MariaDB don't tell whose queries they are. */
function OwnQueries({ engine, isShown, onChange }: OwnQueriesProps) {
  const which =
    engine === 'postgres'
      ? 'Queries of dbvitals itself'
      : 'Queries on the server’s catalogue, such as those of dbvitals,';
  return (
    <p className="quiet">
      {which} are {isShown ? 'listed' : 'hidden'}.{' '}
      <Button kind="quiet" onPress={() => onChange(isShown ? undefined : 'shown')} small>
        {isShown ? 'Hide them' : 'Show them'}
      </Button>
    </p>
  );
}
