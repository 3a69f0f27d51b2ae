import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccountSilence, AccountSilences } from '../../../../src/console-api/thresholds/silence-list.ts';
import { Button } from '../../parts/button.tsx';
import { ConnectionLink } from '../../parts/connection-link.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { endSilences } from '../../parts/end-silences.ts';
import { Checkbox } from '../../parts/field.tsx';
import { counted } from '../../parts/figure.ts';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { useRestoredFocus } from '../../parts/restore-focus.ts';
import { reasonText } from '../../parts/silence-reasons.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useCan } from '../../shell/profile.ts';
import { silencesQuery } from '../../thresholds/thresholds-query.ts';

/** The most silences of one request. */
const MOST = 1_000;

/** Every active silence of the account, to end one or several. */
export function AccountSilenceList() {
  const query = useQuery(silencesQuery);
  return (
    <Loaded query={query}>
      {(list) =>
        list.data.length === 0 ? (
          <Message icon="silent" title="Nothing is silenced">
            You can silence a finding on its connection’s page, with a reason and an expiry.
          </Message>
        ) : (
          <Silenced list={list} />
        )
      }
    </Loaded>
  );
}

function Silenced({ list: { data, total } }: { list: AccountSilences }) {
  const mayWrite = useCan()('connections:write');
  const refresh = useRenewConnections();
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [isAsked, setAsked] = useState(false);
  useRestoredFocus(isAsked);
  // What somebody else has ended meanwhile is not chosen any more.
  const ids = data.flatMap(({ id }) => (chosen.has(id) ? [id] : []));
  const first = data.slice(0, MOST);
  const end = useAction({
    request: () => endSilences(ids, refresh),
    onDone() {
      setChosen(new Set());
      setAsked(false);
    },
  });
  const choose = (id: number, isChosen: boolean) => {
    const next = new Set(ids);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      {mayWrite && (
        <div className="page-actions">
          <Checkbox
            isSelected={ids.length > 0 && ids.length === first.length}
            onChange={(all) => setChosen(new Set(all ? first.map(({ id }) => id) : []))}
          >
            Select all
          </Checkbox>
          <Button isDisabled={ids.length === 0 || ids.length > MOST} onPress={() => setAsked(true)}>
            End {counted(ids.length, 'silence')}
          </Button>
        </div>
      )}
      <Table
        columns={columnsOf(mayWrite, chosen, choose)}
        label="Silences"
        rowKey={({ id }) => id}
        rows={data}
      />
      <p className="quiet small">
        {data.length.toLocaleString('en')} of {total.toLocaleString('en')} silences
      </p>
      {isAsked && (
        <Confirm
          action={ids.length === 1 ? 'End silence' : 'End silences'}
          onClose={() => setAsked(false)}
          title={ids.length === 1 ? 'End this silence?' : `End ${ids.length.toLocaleString('en')} silences?`}
          work={end}
        >
          <p>The next checks list these findings again, count them in the score and can open tickets.</p>
        </Confirm>
      )}
    </>
  );
}

function columnsOf(
  mayWrite: boolean,
  chosen: ReadonlySet<number>,
  choose: (id: number, isChosen: boolean) => void,
): Column<AccountSilence>[] {
  const what: Column<AccountSilence> = {
    header: 'Silenced',
    width: 'minmax(12rem, 3fr)',
    narrow: 'lead',
    cell: ({ id, check_id, title, object, connection_name }) => {
      const text = (
        <span className="threshold-check">
          <span>{title}</span>
          <span className="mono small quiet">{check_id}</span>
          {object === null ? (
            <span className="small">all objects</span>
          ) : (
            <bdi className="mono small">{object}</bdi>
          )}
        </span>
      );
      if (!mayWrite) return text;
      return (
        <Checkbox isSelected={chosen.has(id)} onChange={(isChosen) => choose(id, isChosen)}>
          {text}
          <span className="hidden-text"> on {connection_name}</span>
        </Checkbox>
      );
    },
  };
  return [
    what,
    {
      header: 'Connection',
      width: 'minmax(8rem, 2fr)',
      cell: ({ connection_id, connection_name }) => (
        <ConnectionLink id={connection_id} name={connection_name} />
      ),
    },
    {
      header: 'Reason',
      width: 'minmax(9rem, 3fr)',
      cell: ({ reason, note }) => (
        <>
          {reasonText(reason)}: <bdi>{note}</bdi>
        </>
      ),
    },
    {
      header: 'By',
      width: 'minmax(7rem, 1fr)',
      cell: ({ created_by, created_at }) => (
        <>
          {created_by !== null && <bdi>{created_by}</bdi>} <Time at={created_at} />
        </>
      ),
    },
    {
      header: 'Until',
      width: '10rem',
      cell: ({ until }) => (until ? <Time as="local" at={until} /> : 'no end date'),
    },
  ];
}
