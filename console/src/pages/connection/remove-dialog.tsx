import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConnectionSettings } from '../../../../src/console-api/connections/connection-schemas.ts';
import { send } from '../../api.ts';
import { Confirm } from '../../parts/dialog.tsx';

interface RemoveDialogProps {
  settings: ConnectionSettings;
  onClose: () => void;
  onRemoved: () => void;
}

/** Asks for confirmation before a connection is removed. */
export function RemoveDialog({ settings: { id, name }, onClose, onRemoved }: RemoveDialogProps) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => send('DELETE', `/connections/${id}`),
    onSuccess() {
      onRemoved();
      queries.removeQueries({ queryKey: ['connections', String(id)] });
      void queries.invalidateQueries({ queryKey: ['fleet'] });
      void queries.invalidateQueries({ queryKey: ['tickets'] });
    },
  });
  return (
    <Confirm action="Remove connection" onClose={onClose} title="Remove this connection?" work={remove}>
      <p>
        “<bdi>{name}</bdi>” is no longer monitored, and its stored password is deleted. Its tickets are kept
        as resolved. This can’t be undone.
      </p>
    </Confirm>
  );
}
