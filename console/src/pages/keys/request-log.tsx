import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { KeyRequests } from '../../../../src/console-api/keys/key-routes.ts';
import { get } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

/** A key's requests, newest first. The log is searched in steps. */
export function RequestLog({ id }: { id: number }) {
  const log = useInfiniteQuery({
    queryKey: ['keys', id, 'requests'],
    queryFn: ({ signal, pageParam }) =>
      get<KeyRequests>(`/keys/${id}/requests`, { before_id: pageParam }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before_id }) => next_before_id,
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : 10_000),
  });
  return (
    <Loaded query={log}>
      {({ pages }) => {
        const rows = pages.flatMap(({ data }) => data);
        const isWhole = !log.hasNextPage;
        return (
          <>
            {rows.length > 0 && (
              <Table
                columns={REQUEST_COLUMNS}
                hasKeyboardNavigation
                label="Requests"
                rowKey={(request) => request.id}
                rows={rows}
              />
            )}
            {rows.length === 0 && (
              <Message icon="activity" title={isWhole ? 'No requests yet' : 'No recent requests'}>
                {!isWhole && 'The last 20,000 log entries hold no request with this key.'}
              </Message>
            )}
            {!isWhole && (
              <div className="keys-older">
                <Button isPending={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>
                  Look further back
                </Button>
              </div>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

type KeyRequest = KeyRequests['data'][number];

function statusMark(status: number) {
  const look = status < 400 ? 'ok' : status < 500 ? 'warning' : 'error';
  return <StatusMark quiet status={look} word={status === 429 ? '429 over the limit' : String(status)} />;
}

/** The columns of an entry of the log: its id, which leads to it, and its time, which `time` names. */
export function entryColumns(time: string): readonly Column<Pick<KeyRequest, 'id' | 'occurred_at'>>[] {
  return [
    {
      header: 'Entry',
      width: '5rem',
      cell: ({ id }) => (
        <Link className="row-link" search={{ entry: String(id) }} to="/activity">
          {id}
        </Link>
      ),
    },
    {
      header: time,
      width: 'minmax(11.5rem, 1fr)',
      cell: ({ occurred_at }) => <Time as="local" at={occurred_at} seconds />,
    },
  ];
}

const REQUEST_COLUMNS: readonly Column<KeyRequest>[] = [
  ...entryColumns('Time'),
  {
    header: 'Request',
    width: 'minmax(0, 2fr)',
    narrow: 'lead',
    cell: ({ method, page_path }) => (
      <code>
        {method} <bdi>{page_path}</bdi>
      </code>
    ),
  },
  { header: 'Status', width: '9.5rem', cell: ({ status }) => statusMark(status) },
  {
    header: 'From',
    width: 'minmax(6rem, 1fr)',
    cell: ({ source_ip }) => <span className="mono">{source_ip ?? '–'}</span>,
  },
  {
    header: 'Client',
    width: 'minmax(0, 1.2fr)',
    narrow: 'hide',
    cell: ({ user_agent }) => <bdi className="small">{user_agent ?? '–'}</bdi>,
  },
];
