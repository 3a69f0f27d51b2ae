import type { ListedQuery } from '../../../../../src/console-api/queries/query-schemas.ts';
import { queryName } from '../../../../../src/platform/text/query-name.ts';
import { valueText } from '../../../../../src/platform/text/value-text.ts';
import type { Engine } from '../../../../../src/vocabulary/engines.ts';
import { Button } from '../../../parts/button.tsx';
import { Sparkline } from '../../../parts/sparkline.tsx';
import type { Column } from '../../../parts/table.tsx';

interface ColumnsOf {
  engine: Engine;
  /** Of all queries in the range. */
  allSeconds: number;
  /** Shows the text of a query; null if the member may not, or none is stored. */
  onText: ((query: string) => void) | null;
}

/** The columns of the list of queries: what is read and temporary differs between the engines. */
export function queryColumns({ engine, allSeconds, onText }: ColumnsOf): Column<ListedQuery>[] {
  const isPostgres = engine === 'postgres';
  const columns: Column<ListedQuery>[] = [
    {
      ...{ id: 'query', header: 'Query', width: 'minmax(9rem, 2fr)', narrow: 'lead' },
      cell: (one) => <QueryName {...one} />,
    },
    {
      ...{ id: 'time', header: 'Time', align: 'end' },
      cell: ({ seconds }) => (
        <>
          {valueText(seconds, 'seconds')}{' '}
          {allSeconds > 0 && (
            <span className="query-share quiet">{valueText(seconds / allSeconds, 'ratio')}</span>
          )}
        </>
      ),
    },
    { ...{ id: 'calls', header: 'Calls', align: 'end' }, cell: ({ calls }) => valueText(calls, 'count') },
    {
      ...{ id: 'mean', header: 'Mean', align: 'end' },
      cell: ({ seconds, calls }) => valueText(seconds / Math.max(1, calls), 'seconds'),
    },
    { ...{ id: 'rows', header: 'Rows', align: 'end' }, cell: ({ rows }) => valueText(rows, 'count') },
    {
      ...{ id: 'read', header: isPostgres ? 'Blocks read' : 'Rows examined', align: 'end' },
      cell: ({ read }) => valueText(read, 'count'),
    },
    {
      ...{ id: 'temporary', header: isPostgres ? 'Temporary' : 'Disk tables', align: 'end' },
      cell: ({ temporary }) => valueText(temporary, isPostgres ? 'bytes' : 'count'),
    },
    {
      ...{ id: 'trend', header: 'Mean, 14 days', width: '7rem', align: 'end', narrow: 'hide' },
      cell: ({ trend }) => <Trend values={trend} />,
    },
  ];
  if (!onText) return columns;
  return [
    ...columns,
    {
      ...{ id: 'text', header: 'Text', width: '4.5rem', align: 'end', hideHeader: true },
      cell: ({ query }) => (
        <Button aria-label={`Text of query ${query}`} onPress={() => onText(query)} small>
          Text
        </Button>
      ),
    },
  ];
}

/** The id, and where and by which role it ran. They come from the server, so they are text. */
function QueryName(place: Pick<ListedQuery, 'query' | 'database' | 'role'>) {
  const { query, database, role } = place;
  return (
    <div className="query-name" data-query={queryName(place)} tabIndex={-1}>
      <bdi className="mono" title={query}>
        {query}
      </bdi>
      <span className="quiet small">
        {database !== '' && <bdi>{database}</bdi>}
        {database !== '' && role !== '' && ' · '}
        {role !== '' && <bdi>{role}</bdi>}
      </span>
    </div>
  );
}

function Trend({ values }: { values: ListedQuery['trend'] }) {
  const known = values.filter((value) => value !== null);
  const [first, last] = [known[0] ?? 0, known.at(-1) ?? 0];
  return (
    <Sparkline
      label={`Mean time of a call in 14 days: from ${valueText(first, 'seconds')} to ${valueText(last, 'seconds')}`}
      max={Math.max(...known, 1e-9)}
      values={values}
    />
  );
}
