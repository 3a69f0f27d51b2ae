import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyChange } from '../../../../src/console-api/keys/change-keys.ts';
import { send } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { AccessFields } from './access-fields.tsx';
import type { ApiKey } from './api-key-lifetime.ts';
import { accessIn, draftOf } from './key-access.ts';

/** Changes what a key may do. It applies from the key's next request on. */
export function ChangeAccess({ subject, onClose }: { subject: ApiKey; onClose: () => void }) {
  const { id, name, version } = subject;
  const [initial] = useState(() => draftOf(subject));
  const [draft, setDraft] = useState(initial);
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => send('PATCH', `/keys/${id}`, { version, ...accessIn(draft) } satisfies KeyChange),
    onSuccess: () => {
      announce('Access changed');
      onClose();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  return (
    <FormDialog
      action="Save"
      isChanged={JSON.stringify(draft) !== JSON.stringify(initial)}
      onClose={onClose}
      title="Change access"
      work={save}
    >
      <p>
        What <bdi className="keys-name">{name}</bdi> may do from its next request on.
      </p>
      <AccessFields draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}
