import { useQueryClient } from '@tanstack/react-query';
import type { ConnectionSettings } from '../../../../src/console-api/connections/connection-schemas.ts';
import { Button } from '../../parts/button.tsx';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { TagDialog } from '../../parts/tag-dialog.tsx';
import { tagsQuery } from '../../parts/tag-filter.tsx';
import { Tags } from '../../parts/tags.tsx';
import { useCan } from '../../shell/profile.ts';
import { useConnectionSearch } from './use-connection-search.ts';

/** The connection's tags, with a button that changes them. */
export function ConnectionTags({ settings }: { settings: ConnectionSettings }) {
  const can = useCan();
  const mayEdit = can('connections:write');
  const [{ edit }, changeSearch] = useConnectionSearch();
  const queries = useQueryClient();
  const renew = useRenewConnections();
  const { tags } = settings;
  if (tags.length === 0 && !mayEdit) return null;
  return (
    <div className="connection-tags">
      {tags.length > 0 && <Tags tags={tags} />}
      {mayEdit && (
        <Button icon="pen" kind="quiet" onPress={() => changeSearch({ edit: 'tags' })} small>
          {tags.length === 0 ? 'Add tags' : 'Change tags'}
        </Button>
      )}
      {edit === 'tags' && mayEdit && (
        <TagDialog
          connections={[settings]}
          onClose={() => changeSearch({ edit: undefined })}
          onSaved={() => Promise.all([renew(), queries.invalidateQueries(tagsQuery)])}
        />
      )}
    </div>
  );
}
