import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ConnectionChanges } from '../../../../src/console-api/changes/change-schemas.ts';
import { CHANGE_KINDS, kindText } from '../../../../src/platform/text/change-text.ts';
import { read, readPages } from '../../api.ts';
import { ChangeLines, ChangeList } from '../../parts/changes/change-list.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { usePhone } from '../../parts/use-media.ts';
import { useConnectionSearch } from './use-connection-search.ts';

const PER_PAGE = 15;
/** The rows of a phone are blocks of several lines. */
const PER_PAGE_ON_PHONE = 5;

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
      <ChangeLines changes={data.changes} label="Latest changes" />
    </Section>
  );
}

/** What changed on the connection's server and in how it is monitored, latest first. */
export function Changes({ connectionId }: { connectionId: string }) {
  const [{ change: kind }, changeSearch] = useConnectionSearch();
  const limit = usePhone() ? PER_PAGE_ON_PHONE : PER_PAGE;
  const list = useInfiniteQuery({
    ...readPages<ConnectionChanges>(`/connections/${encodeURIComponent(connectionId)}/changes`, {
      kinds: kind,
      limit,
    }),
    placeholderData: keepPreviousData,
  });
  const changes = list.data?.pages.flatMap((page) => page.changes) ?? [];
  return (
    <Section
      actions={
        <div className="change-filter">
          <FilterSelect
            all="All changes"
            choices={CHANGE_KINDS.map((id) => ({ id, label: kindText(id) }))}
            chosen={kind}
            label="Kind of change"
            onChange={(change) => changeSearch({ change })}
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
