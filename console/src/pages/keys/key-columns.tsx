import { Link } from '@tanstack/react-router';
import { actionsColumn } from '../../parts/actions-column.tsx';
import type { Column } from '../../parts/table.tsx';
import { local, Time } from '../../parts/time.tsx';
import { isAccepted } from './api-key-lifetime.ts';
import { type ApiKeyAction, type ApiKeyState, actionsOf } from './api-key-state.ts';
import { Gauge } from './gauge.tsx';
import { restrictionText } from './key-access.ts';
import { ApiKeyExpiry, ApiKeyStatusCell, createdBy, LastUse, Requests } from './key-cells.tsx';

/** The columns of the key list; `limit` in requests per minute. With gaps they need 49.5rem, as in table.css. */
export function apiKeyColumns(limit: number, act: ApiKeyAction | null): Column<ApiKeyState>[] {
  return [
    {
      id: 'name',
      header: 'Key',
      width: 'minmax(6.75rem, 2.2fr)',
      isSortable: true,
      narrow: 'lead',
      cell: ({ subject }) => {
        const { id, name, note, last_four } = subject;
        const restriction = restrictionText(subject);
        return (
          <>
            <Link className="row-link" search={{ key: String(id) }} to="/keys">
              <bdi className="keys-name">{name}</bdi>
            </Link>
            <div className="small quiet mono">dbv_live_…{last_four}</div>
            {restriction && <div className="small two-lines">{restriction}</div>}
            {note && (
              <div className="small quiet two-lines">
                <bdi>{note}</bdi>
              </div>
            )}
          </>
        );
      },
    },
    {
      header: 'State',
      width: 'minmax(8rem, 1.3fr)',
      cell: ({ subject, status }) => <ApiKeyStatusCell status={status} subject={subject} />,
    },
    {
      header: 'This minute',
      width: 'minmax(5rem, 0.9fr)',
      cell: ({ subject, status, window }) =>
        isAccepted(status) ? (
          <Gauge limit={limit} name={subject.name} window={window} />
        ) : (
          <span className="quiet">–</span>
        ),
    },
    {
      id: 'requests',
      header: 'Requests, 24\u00a0h',
      width: 'minmax(6rem, 7.25rem)',
      align: 'end',
      isSortable: true,
      cell: ({ subject }) => <Requests subject={subject} />,
    },
    {
      id: 'used',
      header: 'Last used',
      width: 'minmax(5.5rem, 1fr)',
      isSortable: true,
      cell: ({ subject, lastUsedAt }) => <LastUse at={lastUsedAt} subject={subject} />,
    },
    {
      id: 'expires',
      header: 'Expires',
      width: 'minmax(5rem, 0.9fr)',
      isSortable: true,
      cell: ({ subject, status }) => <ApiKeyExpiry status={status} subject={subject} />,
    },
    {
      id: 'created',
      header: 'Created',
      width: 'minmax(5.5rem, 1fr)',
      isSortable: true,
      cell: ({ subject }) => (
        <>
          <Time at={subject.created_at} />
          <div className="small quiet">
            by <bdi>{createdBy(subject)}</bdi>
          </div>
        </>
      ),
    },
    actionsColumn(
      ({ subject }) => `${subject.name}, created ${local(subject.created_at)}`,
      (key) => (act ? actionsOf(key, act) : []),
    ),
  ];
}
