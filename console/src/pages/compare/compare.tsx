import './compare.css';
import { useQueries } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Fragment, useMemo } from 'react';
import type { ConnectionFacts } from '../../../../src/console-api/changes/fact-routes.ts';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionMeasures } from '../../../../src/console-api/measures/measure-schemas.ts';
import { ENGINE_NAMES } from '../../../../src/vocabulary/engines.ts';
import { get } from '../../api.ts';
import { ButtonLink } from '../../parts/button-link.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Filters, Page } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { areForeign, type Compared, type ComparedRow, comparedRows, isHidden } from './compare-rows.ts';

/** Everything that is compared of one connection. */
function comparedQuery(id: string) {
  return {
    queryKey: ['connections', id, 'compared'],
    queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Compared> => {
      const [detail, { data: facts }, { measures }] = await Promise.all([
        get<ConnectionDetail>(`/connections/${id}`, {}, signal),
        get<ConnectionFacts>(`/connections/${id}/facts`, {}, signal),
        get<ConnectionMeasures>(`/connections/${id}/measures`, {}, signal),
      ]);
      return { detail, facts, measures };
    },
  };
}

/** Two connections side by side: findings, measures, versions and settings. */
export function ComparePage() {
  const { a, b } = useSearch({ from: '/in/compare' });
  return (
    <Page
      back={<Link to="/fleet">← Fleet</Link>}
      description="Differences between the latest runs of two connections."
      title="Compare connections"
    >
      {a === undefined || b === undefined ? (
        <Message
          actions={<ButtonLink to="/fleet">Choose connections</ButtonLink>}
          icon="fleet"
          title="Choose two connections"
        >
          Select two rows of the fleet, then Compare.
        </Message>
      ) : (
        <Comparison ids={[a, b]} />
      )}
    </Page>
  );
}

function Comparison({ ids }: { ids: readonly [string, string] }) {
  const [a, b] = useQueries({ queries: [comparedQuery(ids[0]), comparedQuery(ids[1])] });
  return (
    <Loaded query={a}>
      {(first) => <Loaded query={b}>{(second) => <Differences ids={ids} of={[first, second]} />}</Loaded>}
    </Loaded>
  );
}

function Differences({ ids, of }: { ids: readonly [string, string]; of: readonly [Compared, Compared] }) {
  const { show } = useSearch({ from: '/in/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const [first, second] = of;
  const rows = useMemo(() => comparedRows([first, second]), [first, second]);
  const different = rows.filter(({ differs }) => differs);
  const shown = show === 'all' ? rows : different;
  const names = of.map(({ detail }) => detail.settings.name);
  const columns = useMemo(() => columnsOf(names[0] ?? '', names[1] ?? ''), [names[0], names[1]]);
  const unread = of.findIndex(({ facts }) => facts.length === 0);
  return (
    <div className="compare-page">
      <p>
        {ids.map((id, place) => (
          <Fragment key={place === 0 ? 'first' : 'second'}>
            {place === 1 && ' and '}
            <Link params={{ id }} to="/connections/$id">
              <bdi>{names[place]}</bdi>
            </Link>
          </Fragment>
        ))}
      </p>
      <Filters>
        <FilterChips
          chips={[{ id: 'all', label: 'Show equal values', count: rows.length - different.length }]}
          label="Rows"
          onChange={(id) =>
            void navigate({
              search: ({ show: _, ...old }) => ({ ...old, ...(id === 'all' && { show: 'all' as const }) }),
              replace: true,
            })
          }
          value={show ?? null}
        />
      </Filters>
      {areForeign(of) && (
        <p className="quiet">
          {of.map(({ detail }) => ENGINE_NAMES[detail.settings.engine]).join(' and ')} have different checks,
          settings and measurements. Only what both connections have is compared.
        </p>
      )}
      {unread !== -1 && (
        <p className="quiet">
          The settings of <bdi>{names[unread]}</bdi> have not been read yet.
        </p>
      )}
      <Table
        empty={
          <Message icon="check" title="No differences">
            The latest runs found the same settings, versions and findings.
          </Message>
        }
        columns={columns}
        hasKeyboardNavigation
        heading={({ section }, before) => section !== before?.section && section}
        label="Differences"
        rowHeight={45}
        rowKey={({ id }) => id}
        rows={shown}
      />
    </div>
  );
}

function columnsOf(...names: readonly [string, string]): Column<ComparedRow>[] {
  return [
    {
      id: 'name',
      header: 'Item',
      width: 'minmax(9rem, 2fr)',
      narrow: 'lead' as const,
      cell: ({ name, differs }) => (
        <>
          <bdi className="compared-name">{visibleText(name)}</bdi>
          {differs && <span className="hidden-text"> (differs)</span>}
        </>
      ),
    },
    ...names.map((header, place) => ({
      id: `value ${place}`,
      header,
      width: 'minmax(8rem, 3fr)',
      cell: ({ section, values, differs }: ComparedRow) => (
        <Value isDifferent={differs && section !== 'Findings'} value={values[place] ?? null} />
      ),
    })),
  ];
}

function Value({ value, isDifferent }: { value: string | null; isDifferent: boolean }) {
  if (value === null) return <span className="quiet">none</span>;
  if (isHidden(value)) return <span className="quiet">hidden, not compared</span>;
  return (
    <bdi className={isDifferent ? 'compared-value different' : 'compared-value'}>
      {visibleText(value) || '(empty)'}
    </bdi>
  );
}
