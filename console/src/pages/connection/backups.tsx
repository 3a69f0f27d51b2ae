import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BackupList, Heartbeat } from '../../../../src/console-api/connections/backup-routes.ts';
import { valueText } from '../../../../src/platform/text/value-text.ts';
import { send } from '../../api.ts';
import { serviceUrl } from '../../base-path.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Confirm, Dialog } from '../../parts/dialog.tsx';
import { Section } from '../../parts/page.tsx';
import { CONNECTION_KEYS } from '../../parts/renew-connections.ts';
import { InlineError, Loaded } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration, Time } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useCan } from '../../shell/profile.ts';
import { backupsQuery } from './connection-query.ts';

type Report = BackupList['reports'][number];

const SOURCES: Readonly<Record<Report['source'], string>> = {
  heartbeat: 'Heartbeat',
  pgbackrest: 'pgBackRest',
  barman: 'Barman',
  walg: 'WAL-G',
  mariabackup: 'mariabackup',
};

const COLUMNS: Column<Report>[] = [
  {
    header: 'Ended',
    width: 'minmax(8rem, 2fr)',
    narrow: 'lead',
    cell: ({ at }) => <Time as="local" at={at} />,
  },
  {
    header: 'Outcome',
    width: '7rem',
    cell: ({ succeeded }) => (succeeded ? 'Succeeded' : 'Failed'),
  },
  {
    header: 'Size',
    width: '7rem',
    cell: ({ bytes }) =>
      bytes === null ? <span className="quiet">unknown</span> : valueText(bytes, 'bytes'),
  },
  { header: 'Took', width: '7rem', cell: (report) => <Took {...report} /> },
  {
    header: 'Reported by',
    width: 'minmax(8rem, 2fr)',
    cell: ({ source, label }) => (
      <>
        {SOURCES[source]} {label !== '' && <bdi className="mono">{label}</bdi>}
      </>
    ),
  },
];

function Took({ at, started_at }: Pick<Report, 'at' | 'started_at'>) {
  if (started_at === null) return <span className="quiet">unknown</span>;
  return duration((Date.parse(at) - Date.parse(started_at)) / 1_000);
}

/** What was reported of the connection's backups, and the URL that a backup job calls. */
export function Backups({ connectionId }: { connectionId: string }) {
  const query = useQuery(backupsQuery(connectionId));
  const mayWrite = useCan()('connections:write');
  const [asking, setAsking] = useState<'renew' | 'revoke' | null>(null);
  const [token, setToken] = useState<string | null>(null);
  const path = `/connections/${encodeURIComponent(connectionId)}/heartbeat`;
  const create = useAction({
    request: () => send<Heartbeat>('POST', path),
    renews: CONNECTION_KEYS,
    onDone: (created) => {
      setAsking(null);
      setToken(created.token);
    },
  });
  const revoke = useAction({
    request: () => send('DELETE', path),
    renews: CONNECTION_KEYS,
    done: 'Heartbeat URL revoked',
    onDone: () => setAsking(null),
  });
  const heartbeat = query.data?.heartbeat ?? null;
  const ask = (what: 'renew' | 'revoke') => {
    create.reset();
    revoke.reset();
    setAsking(what);
  };
  return (
    <Section
      actions={
        mayWrite &&
        query.data && (
          <>
            <Button isPending={create.isPending} onPress={() => (heartbeat ? ask('renew') : create.mutate())}>
              {heartbeat ? 'Replace heartbeat URL' : 'Create heartbeat URL'}
            </Button>
            {heartbeat && <Button onPress={() => ask('revoke')}>Revoke</Button>}
          </>
        )
      }
      description={heartbeatText(heartbeat)}
      title="Backups"
    >
      {asking === null && <InlineError error={create.error} />}
      <Loaded query={query}>
        {({ reports }) => (
          <Table
            empty={<p className="quiet">No backup was reported yet.</p>}
            columns={COLUMNS}
            label="Backups"
            rowKey={({ at, source, label }) => `${at} ${source} ${label}`}
            rows={reports}
          />
        )}
      </Loaded>
      {token !== null && <HeartbeatDialog onDone={() => setToken(null)} token={token} />}
      {asking !== null && (
        <Confirm
          action={asking === 'renew' ? 'Replace URL' : 'Revoke URL'}
          onClose={() => setAsking(null)}
          title={asking === 'renew' ? 'Replace the heartbeat URL?' : 'Revoke the heartbeat URL?'}
          work={asking === 'renew' ? create : revoke}
        >
          <p>The current URL stops working at once: backup jobs that call it are no longer heard.</p>
        </Confirm>
      )}
    </Section>
  );
}

function heartbeatText(heartbeat: BackupList['heartbeat']) {
  if (heartbeat === null) return 'A backup job reports by calling a heartbeat URL.';
  const { created_at, called_at } = heartbeat;
  return (
    <>
      The heartbeat URL was created <Time at={created_at} />,{' '}
      {called_at === null ? (
        'and was not called yet.'
      ) : (
        <>
          and called last <Time at={called_at} />.
        </>
      )}
    </>
  );
}

/** Shows a new URL once. */
function HeartbeatDialog({ token, onDone }: { token: string; onDone: () => void }) {
  const url = `${serviceUrl()}/heartbeat/${token}`;
  return (
    <Dialog done="Done" isLocked onClose={onDone} title="Your heartbeat URL" wide>
      <p>
        This is the only time that the URL is shown: the service stores only a hash of it. Treat it like a
        password.
      </p>
      <CodeBlock text={url} what="heartbeat URL" />
      <p>Call it at the end of the backup job, with its exit code:</p>
      <CodeBlock text={`curl -fsS -m 30 --retry 5 -X POST "${url}/$?"`} what="curl command" />
    </Dialog>
  );
}
