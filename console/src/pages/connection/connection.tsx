import './connection.css';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ConnectionDetail } from '../../../../src/console/connections/connection-schemas.ts';
import type { RunProgress } from '../../../../src/console/connections/runs.ts';
import { announce, notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { Page } from '../../parts/page.tsx';
import { InlineError, Loaded, Message, NoPermission } from '../../parts/states.tsx';
import { useCan } from '../../shell/profile.ts';
import { Changes } from './changes.tsx';
import { connectionQuery, silencesQuery, useRefresh } from './connection-query.ts';
import { connectionSearch } from './connection-search.ts';
import { ConnectionTags } from './connection-tags.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { Findings } from './findings.tsx';
import { Measures } from './measures.tsx';
import { Overview } from './overview.tsx';
import { Queries } from './queries/queries.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RunProgressBar } from './run-progress.tsx';
import { RunHistory } from './runs/run-history.tsx';
import { Settings } from './settings.tsx';
import { Silences } from './silences.tsx';
import { useRun } from './use-run.ts';
import { Watch } from './watch.tsx';

/** One connection: its status, findings, measurements, changes, silences and settings. */
export function ConnectionPage() {
  const { id } = useParams({ from: '/in/connections/$id' });
  const can = useCan();
  // The key resets all state when the connection changes: open dialogs and drafts are dropped.
  return can('health:read') ? (
    <Connection id={id} key={id} />
  ) : (
    <Page title="Connection">
      <NoPermission permission="health:read" />
    </Page>
  );
}

function Connection({ id }: { id: string }) {
  const can = useCan();
  const navigate = useNavigate();
  const search = useSearch({ from: '/in/connections/$id' });
  const changeSearch = useNavigate({ from: '/connections/$id' });
  const query = useQuery(connectionQuery(id));
  const silences = useQuery(silencesQuery(id));
  const renew = useRefresh();
  const [isRemoving, setRemoving] = useState(false);
  const detail = query.data;
  const { run, isWatched, start } = useRun(id, detail?.running ?? false, (last) => {
    void renew();
    notifyEnd(last);
  });
  const edit = (dialog: 'settings' | undefined) =>
    void changeSearch({
      search: (old) => connectionSearch({ ...old, edit: dialog }),
      replace: true,
      resetScroll: false,
    });
  return (
    <Page
      actions={
        detail &&
        can('checks:run') &&
        detail.settings.interval_seconds !== null && (
          <Button
            icon="again"
            isPending={start.isPending || isWatched}
            kind="primary"
            onPress={() => start.mutate()}
          >
            {isWatched ? 'Checking' : 'Check now'}
          </Button>
        )
      }
      back={<Link to="/fleet">← Fleet</Link>}
      description={detail && <Where detail={detail} />}
      title={detail?.settings.name ?? 'Connection'}
    >
      <Loaded query={query}>
        {(loaded) => (
          <ChartGroup
            onSearch={({ range, from, to }) =>
              void changeSearch({
                search: (old) => connectionSearch({ ...old, range, from, to }),
                replace: true,
                resetScroll: false,
              })
            }
            search={search}
          >
            <div className="connection-page">
              <ConnectionTags settings={loaded.settings} />
              <RunProgressBar error={start.error} isWatched={isWatched} run={run} />
              <Watch connectionId={id} />
              <Overview detail={loaded} />
              {loaded.latest ? (
                <Findings
                  findings={loaded.latest.findings}
                  settings={loaded.settings}
                  silences={silences.data?.data ?? []}
                />
              ) : (
                <Message icon="clock" title="No check has run yet">
                  {isWatched
                    ? 'The first check is running.'
                    : loaded.settings.interval_seconds === null
                      ? 'Sample data is never checked.'
                      : 'The first check runs as soon as a monitor is free.'}
                </Message>
              )}
              <Measures connectionId={id} />
              <Queries settings={loaded.settings} />
              <Changes connectionId={id} />
              <RunHistory connectionId={id} />
              {silences.error && <InlineError error={silences.error} />}
              <Silences silences={silences.data?.data ?? []} />
              <Settings
                actions={
                  can('connections:write') && (
                    <>
                      <Button icon="pen" onPress={() => edit('settings')}>
                        Edit
                      </Button>
                      <Button icon="bin" onPress={() => setRemoving(true)}>
                        Remove
                      </Button>
                    </>
                  )
                }
                settings={loaded.settings}
              />
              {search.edit === 'settings' && can('connections:write') && (
                <EditDialog onClose={() => edit(undefined)} settings={loaded.settings} />
              )}
              {isRemoving && (
                <RemoveDialog
                  onClose={() => setRemoving(false)}
                  onRemoved={() => {
                    notify('Connection removed');
                    void navigate({ to: '/fleet' });
                  }}
                  settings={loaded.settings}
                />
              )}
            </div>
          </ChartGroup>
        )}
      </Loaded>
    </Page>
  );
}

function Where({ detail: { settings } }: { detail: ConnectionDetail }) {
  const { host, port, connection_type, database, username } = settings;
  const place = connection_type === 'unix_socket' || host.includes(',') ? host : `${host}:${port}`;
  return (
    <bdi className="mono">
      {username}@{place}
      {database && `/${database}`}
    </bdi>
  );
}

function notifyEnd(run: RunProgress | null): void {
  if (run?.state === 'done')
    notify(run.score === null ? 'Check finished' : `Check finished: score ${run.score}`);
  if (run?.state === 'failed') announce('The check failed');
}
