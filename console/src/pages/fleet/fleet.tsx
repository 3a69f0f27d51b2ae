import './fleet.css';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { Fleet } from '../../../../src/console-api/fleet/fleet-routes.ts';
import type { FleetMetrics } from '../../../../src/console-api/measures/measure-schemas.ts';
import { read } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { counted } from '../../parts/figure.ts';
import { Page } from '../../parts/page.tsx';
import { SavedViews } from '../../parts/saved-views.tsx';
import { SelectionContext } from '../../parts/selection.tsx';
import { Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { statusText } from '../../parts/status-mark.tsx';
import { TagDialog } from '../../parts/tag-dialog.tsx';
import { tagsQuery } from '../../parts/tag-filter.tsx';
import { useCan } from '../../shell/profile.ts';
import { FirstSteps } from './first-steps.tsx';
import { FleetCharts } from './fleet-charts.tsx';
import { engineText, FleetFilters } from './fleet-filters.tsx';
import { metricsQuery } from './fleet-lines-query.ts';
import { type FleetSearch, fleetSearch } from './fleet-search.ts';
import { useFleetSelection } from './fleet-selection.ts';
import { FleetTable } from './fleet-table.tsx';
import { LinesChoice } from './lines-choice.tsx';

/** How often the page refreshes. The shortest check interval is 10 s, the default five minutes. */
const RENEWED_EVERY_MS = 30_000;

const NO_METRICS: FleetMetrics = { metrics: [] };

export function FleetPage() {
  const can = useCan();
  const mayAdd = can('connections:write');
  return (
    <Page
      actions={
        <>
          <Views mayShare={mayAdd} />
          {mayAdd && <AddConnection />}
        </>
      }
      description="A score of 80 or more is healthy, also with warnings."
      title="Fleet"
    >
      <FirstSteps />
      {can('health:read') ? <Connections mayAdd={mayAdd} /> : <NoPermission permission="health:read" />}
    </Page>
  );
}

function Views({ mayShare }: { mayShare: boolean }) {
  const { edit: _, ...viewed } = useSearch({ from: '/in/fleet' });
  const navigate = useNavigate({ from: '/fleet' });
  return (
    <SavedViews
      mayShare={mayShare}
      onOpen={(view) => void navigate({ search: fleetSearch(view) })}
      page="fleet"
      search={viewed}
    />
  );
}

function AddConnection() {
  return (
    <ButtonLink icon="plus" kind="primary" to="/connections/new">
      Add connection
    </ButtonLink>
  );
}

function Connections({ mayAdd }: { mayAdd: boolean }) {
  const search = useSearch({ from: '/in/fleet' });
  const navigate = useNavigate({ from: '/fleet' });
  const { edit, ...viewed } = search;
  const { metric, range = '24h', show: look, ...listed } = viewed;
  const queries = useQueryClient();
  const { data: { metrics } = NO_METRICS } = useQuery(metricsQuery);
  const lines = useMemo(() => {
    const chosen = metrics.find((each) => each.metric === metric);
    return chosen ? { metric: chosen.metric, title: chosen.title, unit: chosen.unit, range } : null;
  }, [metrics, metric, range]);
  const query = useQuery({
    ...read<Fleet>('/fleet', { ...listed }),
    placeholderData: keepPreviousData,
    refetchInterval: RENEWED_EVERY_MS,
    // Comparing 10,000 rows with the previous ones takes longer than drawing the thirty visible ones.
    structuralSharing: false,
  });
  const { data, isPlaceholderData } = query;
  const selection = useFleetSelection(data?.data);
  const { selected } = selection;
  const shown = selected.length > 0 ? selected : (data?.data ?? []);
  // As they were when the dialog was opened, because the list is renewed beside it. Only all that are listed have an address: a
  // selection is lost when the page loads again.
  const [chosen, setChosen] = useState<Fleet['data'] | null>(null);
  const [ofAddress, setOfAddress] = useState<Fleet['data'] | null>(null);
  if (edit && !ofAddress && data && !isPlaceholderData && data.data.length > 0) setOfAddress(data.data);
  if (!edit && ofAddress) setOfAddress(null);
  const tagged = chosen ?? ofAddress;
  const { sort: _, ...filters } = listed;
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = data?.summary.total === 0 && !isFiltered && !isPlaceholderData;
  useFoundAnnounced(isFiltered && !isPlaceholderData ? data?.data.length : undefined);
  const show = (changed: FleetSearch) =>
    void navigate({ search: (old) => fleetSearch({ ...old, ...changed }), replace: true });
  return (
    <div className="fleet-page">
      {!isEmpty && (
        <FleetFilters
          actions={
            <div className="fleet-actions">
              {selected.length > 0 && (
                <Button kind="quiet" onPress={selection.clear}>
                  Clear selection
                </Button>
              )}
              {selected[0] && selected[1] && selected.length === 2 && (
                <ButtonLink search={{ a: String(selected[0].id), b: String(selected[1].id) }} to="/compare">
                  Compare
                </ButtonLink>
              )}
              {mayAdd && shown.length > 0 && (
                <Button
                  icon="pen"
                  onPress={() => (selected.length > 0 ? setChosen(selected) : show({ edit: 'tags' }))}
                >
                  Tag {counted(shown.length, 'connection')}
                </Button>
              )}
            </div>
          }
          lines={
            <LinesChoice
              metrics={metrics}
              onChange={({ metric, range }) => show({ metric, range })}
              onLook={(look) => show({ show: look })}
              search={search}
              unit={lines?.unit ?? null}
            />
          }
          onChange={show}
          search={search}
          summary={data?.summary}
          versions={data?.versions}
        />
      )}
      {mayAdd && tagged && (
        <TagDialog
          connections={tagged}
          onClose={() => (chosen ? setChosen(null) : show({ edit: undefined }))}
          onSaved={() =>
            Promise.all([
              queries.invalidateQueries({ queryKey: ['fleet'] }),
              queries.invalidateQueries(tagsQuery),
            ])
          }
        />
      )}
      <Loaded query={query}>
        {({ data: rows }) =>
          rows.length > 0 ? (
            <div aria-busy={isPlaceholderData} className="fleet-rows">
              {look === 'charts' ? (
                <FleetCharts lines={lines} rows={rows} />
              ) : (
                <SelectionContext value={selection}>
                  <FleetTable
                    lines={lines}
                    onSort={(sort) => show({ sort })}
                    rows={rows}
                    sort={search.sort}
                  />
                </SelectionContext>
              )}
            </div>
          ) : isEmpty ? (
            <NoDatabases mayAdd={mayAdd} />
          ) : (
            <Message
              actions={<Button onPress={() => void navigate({ search: {}, replace: true })}>Show all</Button>}
              icon="search"
              title="No connection matches"
            >
              {filterText(search)}
            </Message>
          )
        }
      </Loaded>
    </div>
  );
}

function NoDatabases({ mayAdd }: { mayAdd: boolean }) {
  return (
    <Message actions={mayAdd && <AddConnection />} icon="fleet" title="No databases yet">
      {mayAdd
        ? 'Add a PostgreSQL, MySQL or MariaDB server. The connection is tested before it is saved, and the first check starts at once.'
        : 'An owner, administrator or operator of this account can add one.'}
    </Message>
  );
}

/** What no connection is, in a sentence. */
function filterText({ status, q, tags, engine, version, check }: FleetSearch): string {
  const parts = [
    status && `is ${statusText(status).toLowerCase()}`,
    q && `has “${q}” in its name or host`,
    (engine || version) && `runs ${engineText({ ...(engine && { engine }), ...(version && { version }) })}`,
    tags && `has the tags ${tags.replaceAll(',', ', ')}`,
    check && `has an open ticket of ${check}`,
  ].filter(Boolean);
  return `No connection ${parts.join(', and ')}.`;
}

/** Announces the number of matches to screen readers. */
function useFoundAnnounced(found: number | undefined): void {
  useEffect(() => {
    if (found !== undefined) announce(counted(found, 'connection'));
  }, [found]);
}
