import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConnectionDetail, ConnectionSettings } from '../../../../src/console/connections.ts';
import { ApiError, fieldError, get, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import type { ConnectionDraft } from '../../parts/connection-draft.ts';
import {
  ADDRESS_FIELDS,
  CheckFields,
  DatabaseFields,
  LoginFields,
  OTHER_FIELDS,
} from '../../parts/connection-fields.tsx';
import { WayFields } from '../../parts/connection-way.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { InlineError } from '../../parts/states.tsx';
import { connectionQuery, useRenewal } from './connection-query.ts';
import { type Clash, Overtaken } from './overtaken.tsx';
import { changedFields, changeOf, draftOf, needsPassword, needsSshKey, rebased } from './settings-draft.ts';

/**
 * Changes how a connection is set. Where somebody else changed it meanwhile, nothing is overwritten: they are named, what clashes
 * is shown, and the same form goes on from what is set now.
 */
export function EditDialog({ settings, onClose }: { settings: ConnectionSettings; onClose: () => void }) {
  const queries = useQueryClient();
  const renew = useRenewal();
  // What the form was opened with: what is read anew behind it must not change it.
  const [known, setKnown] = useState(settings);
  const [draft, setDraft] = useState(() => draftOf(settings));
  const [clash, setClash] = useState<Clash | null>(null);
  const base = draftOf(known);
  const isUnchanged = changedFields(base, draft).length === 0;
  const save = useMutation({
    mutationFn: async () => {
      const path = `/connections/${known.id}`;
      try {
        return await send<ConnectionSettings>('PATCH', path, changeOf(known.version, base, draft));
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'conflict')) throw error;
        const now = await get<ConnectionDetail>(path);
        queries.setQueryData(connectionQuery(String(known.id)).queryKey, now);
        const theirs = draftOf(now.settings);
        setClash({ message: error.message, before: base, theirs, mine: draft });
        setKnown(now.settings);
        setDraft(rebased(base, draft, theirs));
        return null;
      }
    },
    async onSuccess(saved) {
      if (saved === null) return;
      await renew();
      notify('Saved');
      onClose();
    },
  });
  const { error, isPending } = save;
  const onChange = (changed: Partial<ConnectionDraft>) => setDraft((old) => ({ ...old, ...changed }));
  const fields = { draft, error, onChange };
  return (
    <FormDialog
      action="Save"
      isDisabled={isUnchanged}
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => save.mutate()}
      title="Edit connection"
      wide
    >
      <div className="connection-fields">
        {clash && <Overtaken clash={clash} />}
        <TextField
          error={fieldError(error, 'name')}
          isRequired
          label="Name"
          maxLength={200}
          onChange={(name) => onChange({ name })}
          value={draft.name}
        />
        <DatabaseFields {...fields} isEngineFixed />
        <LoginFields
          {...fields}
          hasPassword={known.has_password}
          isPasswordNeeded={known.has_password && needsPassword(base, draft)}
        />
        <WayFields
          {...fields}
          hasCertificates={known.ca_fingerprints.length > 0}
          hasKey={known.ssh?.has_key === true && !needsSshKey(base, draft)}
        />
        <CheckFields {...fields} />
        <InlineError error={error} fields={['name', ...ADDRESS_FIELDS, ...OTHER_FIELDS]} />
      </div>
    </FormDialog>
  );
}
