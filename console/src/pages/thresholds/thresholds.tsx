import '../../thresholds/thresholds.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type {
  CheckThresholds,
  Override,
  ThresholdList,
} from '../../../../src/console-api/thresholds/threshold-schemas.ts';
import { ENGINE_FAMILIES, FAMILY_TRAITS } from '../../../../src/vocabulary/engines.ts';
import { apiUrl } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { counted } from '../../parts/figure.ts';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Filters, Page } from '../../parts/page.tsx';
import { PageView, PageViews } from '../../parts/page-views.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { thresholdPhrase } from '../../parts/threshold-value.ts';
import { useCan } from '../../shell/profile.ts';
import { CheckDialog } from '../../thresholds/check-dialog.tsx';
import { isFound } from '../../thresholds/threshold-text.ts';
import { thresholdsQuery } from '../../thresholds/thresholds-query.ts';
import { AccountSilenceList } from './account-silences.tsx';
import type { ThresholdList as ListName, ThresholdsSearch } from './thresholds-search.ts';

/** The thresholds of every check, what sets them, and the silences of the account. */
export function ThresholdsPage() {
  const { view } = useSearch({ from: '/in/thresholds' });
  return (
    <Page
      actions={
        view === undefined && (
          <a className="button plain" download href={apiUrl('/thresholds/export')}>
            <Icon name="download" />
            <span>Export for apply</span>
          </a>
        )
      }
      description={
        view === 'silences'
          ? 'Silenced findings are listed as skipped, do not affect the score and open no tickets.'
          : 'A threshold for a connection overrides one for its tags, which overrides one for all connections. If several tags set the same threshold, the strictest value applies.'
      }
      title="Thresholds"
    >
      <Views open={view} />
      {view === 'silences' ? <AccountSilenceList /> : <Thresholds />}
    </Page>
  );
}

const VIEWS: readonly { view: ThresholdsSearch['view']; label: string }[] = [
  { view: undefined, label: 'Thresholds' },
  { view: 'silences', label: 'Silences' },
];

function Views({ open }: { open: ThresholdsSearch['view'] }) {
  return (
    <PageViews label="Thresholds">
      {VIEWS.map(({ view, label }) => (
        <PageView
          isOpen={view === open}
          key={label}
          search={(old) => ({ ...old, view, check: undefined })}
          to="/thresholds"
        >
          {label}
        </PageView>
      ))}
    </PageViews>
  );
}

function Thresholds() {
  const query = useQuery(thresholdsQuery);
  return <Loaded query={query}>{(list) => <CheckList list={list} />}</Loaded>;
}

/** A check with what sets its thresholds. */
interface Row extends CheckThresholds {
  overrides: Override[];
  own: number;
}

const COLUMNS: Column<Row>[] = [
  {
    header: 'Check',
    width: 'minmax(12rem, 2fr)',
    narrow: 'lead',
    cell: ({ check_id, title }) => (
      <span className="threshold-check">
        <Link
          className="row-link"
          from="/thresholds"
          search={(old) => ({ ...old, check: check_id })}
          to="/thresholds"
        >
          {title}
        </Link>
        <span className="mono small quiet">{check_id}</span>
      </span>
    ),
  },
  {
    header: 'Defaults',
    width: 'minmax(12rem, 3fr)',
    cell: ({ thresholds }) => (
      <ul className="threshold-values">
        {thresholds.map(({ name, default: standard, unit }) => (
          <li key={name}>{thresholdPhrase(name, standard, unit)}</li>
        ))}
      </ul>
    ),
  },
  {
    header: 'Set for',
    width: 'minmax(9rem, 2fr)',
    cell: (row) => <SetFor row={row} />,
  },
];

/** `All connections: Warning at 20 %`, the tags, and how many connections. */
function SetFor({ row: { overrides, own, thresholds } }: { row: Row }) {
  if (overrides.length === 0 && own === 0) return <span className="quiet">Defaults only</span>;
  const unitOf = (name: string) => thresholds.find((one) => one.name === name)?.unit ?? 'count';
  const valuesOf = (tag: string) =>
    overrides
      .filter((one) => one.tag === tag)
      .map(({ name, value }) => thresholdPhrase(name, value, unitOf(name)))
      .join(', ');
  const tags = [...new Set(overrides.map(({ tag }) => tag))].filter((tag) => tag !== '');
  const all = valuesOf('');
  return (
    <ul className="threshold-set-by">
      {all && <li>All connections: {all}</li>}
      {tags.slice(0, 3).map((tag) => (
        <li key={tag}>
          <bdi className="tag">{tag}</bdi> {valuesOf(tag)}
        </li>
      ))}
      {tags.length > 3 && <li>{tags.length - 3} more tags</li>}
      {own > 0 && <li>{counted(own, 'connection')}</li>}
    </ul>
  );
}

function CheckList({ list }: { list: ThresholdList }) {
  const mayWrite = useCan()('connections:write');
  const search = useSearch({ from: '/in/thresholds' });
  const navigate = useNavigate({ from: '/thresholds' });
  const show = (changed: Partial<ThresholdsSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: true, resetScroll: false });
  const own = new Map(list.own.map(({ check_id, connections }) => [check_id, connections]));
  const overrides = Map.groupBy(list.overrides, ({ check_id }) => check_id);
  const rows = list.checks.map(
    (check): Row => ({
      ...check,
      overrides: overrides.get(check.check_id) ?? [],
      own: own.get(check.check_id) ?? 0,
    }),
  );
  const isListed = (row: Row, name: ListName) =>
    name === 'set' ? row.overrides.length + row.own > 0 : row.engine === name;
  const found = rows.filter((row) => isFound(row, search.q ?? ''));
  const shown = found.filter((row) => search.list === undefined || isListed(row, search.list));
  const open = rows.find(({ check_id }) => check_id === search.check);
  const chip = (id: ListName, label: string) => ({
    id,
    label,
    count: found.filter((row) => isListed(row, id)).length,
  });
  return (
    <>
      <Filters>
        <SearchBox
          label="Search checks"
          onSearch={(q) => show({ q: q || undefined })}
          value={search.q ?? ''}
        />
        <FilterChips
          chips={[
            ...ENGINE_FAMILIES.map((family) => chip(family, FAMILY_TRAITS[family].name)),
            chip('set', 'Set'),
          ]}
          label="Checks"
          onChange={(id) => show({ list: id === null ? undefined : (id as ListName) })}
          value={search.list ?? null}
        />
      </Filters>
      <Table
        empty={
          <Message
            actions={<Button onPress={() => show({ q: undefined, list: undefined })}>Show all checks</Button>}
            icon="search"
            title={search.list === 'set' && !search.q ? 'Every threshold is the default' : 'No check matches'}
          >
            Open a check to set its thresholds for all connections, for a tag or for some connections.
          </Message>
        }
        columns={COLUMNS}
        hasKeyboardNavigation
        label="Checks"
        rowKey={({ check_id }) => check_id}
        rows={shown}
      />
      <p className="quiet small">
        Each change is in the{' '}
        <Link search={{ action_type: 'threshold_changed' }} to="/activity">
          activity log
        </Link>
        , with the values before and after.
      </p>
      {open && (
        <CheckDialog
          check={open}
          mayWrite={mayWrite}
          key={open.check_id}
          onClose={() => show({ check: undefined })}
          overrides={open.overrides}
        />
      )}
    </>
  );
}
