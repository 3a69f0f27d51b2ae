import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ConnectionChange,
  ConnectionSettings,
} from '../../../../../src/console-api/connections/connection-schemas.ts';
import { ApiError, send } from '../../../api.ts';
import { notify } from '../../../parts/announcer.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { useRenewConnections } from '../../../parts/renew-connections.ts';

interface TextsDialogProps {
  settings: Pick<ConnectionSettings, 'id' | 'version' | 'query_texts'>;
  onClose: () => void;
}

/** Switches the texts of queries on or off. */
export function TextsDialog({ settings, onClose }: TextsDialogProps) {
  const { id, version } = settings;
  // As it was when the dialog opened: the settings change before it closes.
  const [isOn] = useState(settings.query_texts);
  const renew = useRenewConnections();
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      send<ConnectionSettings>('PATCH', `/connections/${id}`, {
        version,
        query_texts: !isOn,
      } satisfies ConnectionChange),
    async onSuccess() {
      await renew();
      queries.removeQueries({ queryKey: ['query-texts', id] });
      notify(isOn ? 'Texts deleted' : 'Texts are stored from the next check on');
      onClose();
    },
    onError: (error) => error instanceof ApiError && error.code === 'conflict' && renew(),
  });
  return (
    <FormDialog
      action={isOn ? 'Delete texts' : 'Store texts'}
      kind={isOn ? 'danger' : 'primary'}
      onClose={onClose}
      title={isOn ? 'Stop storing query texts' : 'Store query texts'}
      work={save}
    >
      <p>
        {isOn
          ? 'The stored texts are deleted, and the next checks read none.'
          : 'The next checks read the text of each query that runs. The server replaces constants, but comments and names stay. Members who may change connections can read the texts, and the activity log records each reading. Texts are kept for 14 days.'}
      </p>
    </FormDialog>
  );
}
