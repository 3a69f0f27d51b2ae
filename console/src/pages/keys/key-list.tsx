import { useNavigate, useSearch } from '@tanstack/react-router';
import { FilterChips } from '../../parts/filter-chips.tsx';
import { Filters } from '../../parts/page.tsx';
import { Message } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import type { ApiKeyStatus } from './api-key-lifetime.ts';
import type { ApiKeyAction, ApiKeyState } from './api-key-state.ts';
import { apiKeyStatusText } from './key-cells.tsx';
import { apiKeyColumns } from './key-columns.tsx';
import { sorted, sortOf } from './key-sort.ts';
import { KEY_STATUSES } from './keys-search.ts';

interface KeyListProps {
  keys: ApiKeyState[];
  limit: number;
  since: string;
  act: ApiKeyAction | null;
}

/** All keys of the account, including revoked and expired ones. */
export function ApiKeyList({ keys, limit, since, act }: KeyListProps) {
  const { status, sort = '-created' } = useSearch({ from: '/in/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const counts = Map.groupBy(keys, (key) => key.status);
  const chips = KEY_STATUSES.map((id) => ({
    id,
    label: apiKeyStatusText(id),
    count: counts.get(id)?.length ?? 0,
  }));
  const shown = sorted(
    keys.filter((key) => !status || key.status === status),
    sort,
  );
  return (
    <>
      <Filters>
        <FilterChips
          chips={chips.filter(({ id, count }) => count > 0 || id === status)}
          label="State"
          onChange={(id) =>
            navigate({
              search: ({ status: _, ...old }) => (id ? { ...old, status: id as ApiKeyStatus } : old),
            })
          }
          value={status ?? null}
        />
      </Filters>
      {shown.length === 0 ? (
        <Message icon="key" title="No keys in this state" />
      ) : (
        <div className="keys-table">
          <Table
            columns={apiKeyColumns(limit, act)}
            hasKeyboardNavigation
            label="API keys"
            onSort={({ column, descending }) =>
              navigate({
                search: (old) => ({ ...old, sort: descending ? `-${column}` : column }),
                replace: true,
              })
            }
            rowHeight={64}
            rowKey={({ subject }) => subject.id}
            rows={shown}
            sort={sortOf(sort)}
          />
        </div>
      )}
      <p className="quiet small">
        Requests since <Time as="full" at={since} />. “This minute” updates every 5 seconds.
      </p>
    </>
  );
}
