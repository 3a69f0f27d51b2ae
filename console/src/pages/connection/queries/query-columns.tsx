import { Link } from '@tanstack/react-router';
import type { ListedQuery } from '../../../../../src/console-api/queries/query-schemas.ts';
import { valueText } from '../../../../../src/platform/text/value-text.ts';
import type { Engine } from '../../../../../src/vocabulary/engines.ts';
import { Sparkline } from '../../../parts/sparkline.tsx';
import type { Column } from '../../../parts/table.tsx';
import { connectionSearch, listSearch } from '../connection-search.ts';
import { countText } from './count-text.ts';

interface ColumnsOf {
  engine: Engine;
  /** Of all queries in the range. */
  allSeconds: number;
  /** By id, where texts are stored and the member may read them. */
  texts: ReadonlyMap<string, string> | undefined;
}

/** The columns of the list of queries: what is read and temporary differs between the engines. */
export function queryColumns({ engine, allSeconds, texts }: ColumnsOf): Column<ListedQuery>[] {
  const isPostgres = engine === 'postgres';
  return [
    {
      header: 'Query',
      width: 'minmax(12rem, 4fr)',
      narrow: 'lead',
      cell: (one) => <QueryName {...one} text={texts?.get(one.query)} />,
    },
    {
      header: 'Time',
      align: 'end',
      cell: ({ seconds }) => (
        <>
          {valueText(seconds, 'seconds')}{' '}
          {allSeconds > 0 && (
            <span className="query-share quiet">{valueText(seconds / allSeconds, 'ratio')}</span>
          )}
        </>
      ),
    },
    { header: 'Calls', align: 'end', cell: ({ calls }) => countText(calls) },
    {
      header: 'Mean',
      align: 'end',
      cell: ({ seconds, calls }) => valueText(seconds / Math.max(1, calls), 'seconds'),
    },
    { header: 'Rows', align: 'end', cell: ({ rows }) => countText(rows) },
    {
      header: isPostgres ? 'Blocks read' : 'Rows examined',
      align: 'end',
      cell: ({ read }) => countText(read),
    },
    {
      header: isPostgres ? 'Temporary' : 'Disk tables',
      align: 'end',
      cell: ({ temporary }) => (isPostgres ? valueText(temporary, 'bytes') : countText(temporary)),
    },
    {
      header: 'Mean, 14 days',
      width: '7rem',
      align: 'end',
      narrow: 'hide',
      cell: ({ trend }) => <Trend values={trend} />,
    },
  ];
}

/** Longer lines have no room in any window. */
const LINE = 300;

/** The text in one line or the id, and where and by which role it ran. They come from the server, so they are text. */
function QueryName({ query, database, role, text }: ListedQuery & { text: string | undefined }) {
  return (
    <div className="query-name">
      <Link
        className="row-link mono"
        from="/connections/$id"
        search={(old) => connectionSearch({ ...listSearch(old), query, database, role })}
        title={text === undefined ? undefined : query}
        to="/connections/$id"
      >
        <bdi>{text?.replace(/\s+/g, ' ').trim().slice(0, LINE) ?? query}</bdi>
      </Link>
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
