import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ConnectionChanges } from '../../../../src/console-api/changes/change-schemas.ts';
import { CHANGE_KINDS, kindText } from '../../../../src/platform/text/change-text.ts';
import { read, readPages } from '../../api.ts';
import { ChangeList } from '../../parts/changes/change-list.tsx';
import { Select } from '../../parts/field.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { connectionSearch } from './connection-search.ts';

const PER_PAGE = 25;

const LATEST = 3;

/** The latest changes, for the overview; nothing while there are none. */
export function LatestChanges({ connectionId }: { connectionId: string }) {
  const { data } = useQuery(
    read<ConnectionChanges>(`/connections/${encodeURIComponent(connectionId)}/changes`, { limit: LATEST }),
  );
  if (!data || data.changes.length === 0) return null;
  return (
    <Section
      actions={
        <Link params={{ id: connectionId }} search={{ tab: 'changes' }} to="/connections/$id">
          All changes
        </Link>
      }
      title="What changed"
    >
      <ChangeList changes={data.changes} label="Latest changes" />
    </Section>
  );
}

/** What changed on the connection's server and in how it is monitored, latest first. */
export function Changes({ connectionId }: { connectionId: string }) {
  const { change: kind } = useSearch({ from: '/in/connections/$id' });
  const navigate = useNavigate({ from: '/connections/$id' });
  const list = useInfiniteQuery({
    ...readPages<ConnectionChanges>(`/connections/${encodeURIComponent(connectionId)}/changes`, {
      kinds: kind,
      limit: PER_PAGE,
    }),
    placeholderData: keepPreviousData,
  });
  const changes = list.data?.pages.flatMap((page) => page.changes) ?? [];
  return (
    <Section
      actions={
        <div className="change-filter">
          <Select
            choices={[
              { id: '', label: 'All changes' },
              ...CHANGE_KINDS.map((id) => ({ id, label: kindText(id) })),
            ]}
            hideLabel
            label="Kind of change"
            onChange={(change) =>
              void navigate({
                search: (old) => connectionSearch({ ...old, change }),
                replace: true,
                resetScroll: false,
              })
            }
            value={kind ?? ''}
          />
        </div>
      }
      description="Settings, versions, schema, findings, silences and thresholds. Kept for 13 months."
      title="Changes"
    >
      <Loaded query={list}>
        {() =>
          changes.length === 0 ? (
            <Message icon="clock" title={kind ? 'No changes of this kind' : 'No changes yet'}>
              {kind ? 'Choose another kind.' : 'Each check is compared with the one before.'}
            </Message>
          ) : (
            <>
              <ChangeList changes={changes} label="Changes" />
              <MoreButton list={list} />
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
