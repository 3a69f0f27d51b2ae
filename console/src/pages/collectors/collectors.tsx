import './collectors.css';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Collector, IssuedToken } from '../../../../src/console-api/collectors/collector-routes.ts';
import { send } from '../../api.ts';
import { serviceUrl } from '../../base-path.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmRequest } from '../../parts/confirm-request.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Page } from '../../parts/page.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { startCommand } from '../../parts/start-command.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Status, StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { duration, Time } from '../../parts/time.tsx';
import { collectorsQuery } from '../../shell/collectors-query.ts';
import { useCan } from '../../shell/profile.ts';
import { EnrolDialog } from './enrol-dialog.tsx';

const LOOKS: Record<Collector['state'], { status: Status; word: string }> = {
  waiting: { status: 'never_run', word: 'Not enrolled' },
  connected: { status: 'ok', word: 'Connected' },
  silent: { status: 'critical', word: 'Silent' },
  revoked: { status: 'revoked', word: 'Revoked' },
};

/** What can be done with a collector; null if the member may do nothing. */
type Act = ((what: 'token' | 'revoke', of: Collector) => void) | null;

function columns(act: Act): Column<Collector>[] {
  return [
    {
      header: 'Name',
      width: 'minmax(0, 1.4fr)',
      narrow: 'lead',
      cell: ({ name, fingerprint }) => (
        <span className="collector-name">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          {fingerprint && <code className="quiet small">{fingerprint}</code>}
        </span>
      ),
    },
    {
      header: 'State',
      cell: ({ state }) => <StatusMark quiet status={LOOKS[state].status} word={LOOKS[state].word} />,
    },
    {
      header: 'Last contact',
      cell: ({ last_contact_at: at }) => (at ? <Time at={at} /> : <span className="quiet">never</span>),
    },
    { header: 'Waiting results', cell: (collector) => <WaitingResults {...collector} /> },
    { header: 'Connections', cell: ({ connections }) => connections },
    {
      header: 'Version',
      cell: ({ version }) => version ?? <span className="quiet">unknown</span>,
    },
    {
      header: 'Actions',
      hideHeader: true,
      width: 'auto',
      align: 'end',
      cell: (collector) => (act ? <Actions act={act} collector={collector} /> : null),
    },
  ];
}

function WaitingResults({ buffered, buffered_seconds }: Collector) {
  if (buffered === 0) return <span className="quiet">none</span>;
  return (
    <span>
      {buffered.toLocaleString('en')}, the oldest {duration(Math.round(buffered_seconds))} old
    </span>
  );
}

function Actions({ act, collector }: { act: NonNullable<Act>; collector: Collector }) {
  const { name, state } = collector;
  return (
    <span className="page-actions">
      <Button aria-label={`New token for ${name}`} onPress={() => act('token', collector)} small>
        New token
      </Button>
      {state !== 'revoked' && (
        <Button aria-label={`Revoke ${name}`} onPress={() => act('revoke', collector)} small>
          Revoke
        </Button>
      )}
    </span>
  );
}

type Asked = { what: 'token' | 'revoke'; of: Collector } | { what: 'token'; of: null };

/** The account's collectors: enrol and revoke them. */
export function CollectorsPage() {
  const mayWrite = useCan()('keys:write');
  const { collector: shown } = useSearch({ from: '/in/collectors' });
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [issued, setIssued] = useState<IssuedToken | null>(null);
  // While a token is shown, no request may navigate away from it.
  const collectors = useQuery({ ...collectorsQuery, enabled: issued === null });
  const act: Act = mayWrite ? (what, of) => setAsked({ what, of }) : null;
  const renew = () => void queries.invalidateQueries({ queryKey: ['collectors'] });
  const enrol = mayWrite && (
    <Button icon="plus" kind="primary" onPress={() => setAsked({ what: 'token', of: null })}>
      Enrol collector
    </Button>
  );
  return (
    <Page
      actions={collectors.data?.data.length !== 0 && enrol}
      back={shown && <Link to="/collectors">← Collectors</Link>}
      description="A collector measures databases that this service cannot reach. It runs beside them, dials out, and keeps their passwords."
      title="Collectors"
    >
      <Loaded query={collectors}>
        {({ data }) => {
          const rows = shown ? data.filter(({ id }) => String(id) === shown) : data;
          if (shown && rows.length === 0)
            return <Message icon="search" title={`There is no collector ${shown}`} />;
          if (rows.length === 0) return <NoCollectors>{enrol}</NoCollectors>;
          return <Table columns={columns(act)} label="Collectors" rowKey={({ id }) => id} rows={rows} />;
        }}
      </Loaded>
      {asked?.what === 'token' && (
        <EnrolDialog
          known={asked.of}
          onClose={() => setAsked(null)}
          onIssued={(token) => {
            setAsked(null);
            setIssued(token);
          }}
        />
      )}
      {issued && (
        <TokenDialog
          issued={issued}
          onDone={() => {
            setIssued(null);
            renew();
          }}
        />
      )}
      {asked?.what === 'revoke' && <Revoke collector={asked.of} onClose={() => setAsked(null)} />}
    </Page>
  );
}

function NoCollectors({ children }: { children: React.ReactNode }) {
  return (
    <Message actions={children} icon="device" title="No collectors yet">
      Enrol one to measure databases in a private network. Their passwords stay there.
    </Message>
  );
}

function Revoke({ collector, onClose }: { collector: Collector; onClose: () => void }) {
  const { id, name, connections } = collector;
  return (
    <ConfirmRequest
      action="Revoke collector"
      done="Collector revoked"
      onClose={onClose}
      renews={['collectors']}
      request={() => send('POST', `/collectors/${id}/revoke`)}
      title="Revoke this collector?"
    >
      <p>
        <bdi>{name}</bdi>: its next request is refused.{' '}
        {connections === 0
          ? 'It measures no connection.'
          : `Its ${connections === 1 ? 'connection is' : `${connections} connections are`} not measured until it is enrolled again.`}
      </p>
    </ConfirmRequest>
  );
}

/** Shows a token once, with the command that uses it. */
function TokenDialog({ issued, onDone }: { issued: IssuedToken; onDone: () => void }) {
  const { name, token, expires_at } = issued;
  return (
    <ShownOnce kept="copied the command" onDone={onDone} title="Start the collector">
      <p>
        Run this beside the databases, as the user of <bdi>{name}</bdi>. This is the only time that the token
        is shown. It works once, until <Time as="full" at={expires_at} />.
      </p>
      <CodeBlock text={startCommand(serviceUrl(), name, token)} what="command" />
      <p className="quiet">
        It expects the connections with their logins in <code>collector.yaml</code>, which only its user may
        read. Compare the fingerprint that it prints with the one in the list.
      </p>
    </ShownOnce>
  );
}
