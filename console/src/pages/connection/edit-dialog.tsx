import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ConnectionChange,
  ConnectionDetail,
  ConnectionSettings,
} from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionTest } from '../../../../src/console-api/connections/test-connection.ts';
import { ApiError, get, send } from '../../api.ts';
import { announce, notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import type { ConnectionDraft } from '../../parts/connection-draft.ts';
import { CheckFields, DatabaseFields, LoginFields } from '../../parts/connection-fields.tsx';
import { SecurityFields } from '../../parts/connection-security.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { TestResult } from '../../parts/test-result.tsx';
import { bindTo } from '../../parts/use-draft.ts';
import { connectionQuery } from './connection-query.ts';
import { type Conflict, EditConflict } from './edit-conflict.tsx';
import { changedFields, changeOf, draftOf, needsPassword, needsSshKey, rebased } from './settings-draft.ts';

/**
 * Edits a connection's settings. If someone else changed them meanwhile, nothing is overwritten: the form names them,
 * shows the conflicts and continues from the current settings.
 */
export function EditDialog({ settings, onClose }: { settings: ConnectionSettings; onClose: () => void }) {
  const queries = useQueryClient();
  const renew = useRenewConnections();
  // The settings that the form was opened with: a refresh behind it must not change them.
  const [known, setKnown] = useState(settings);
  const [draft, setDraft] = useState(() => draftOf(settings));
  const [clash, setClash] = useState<Conflict | null>(null);
  const base = draftOf(known);
  const isUnchanged = changedFields(base, draft).length === 0;
  const path = `/connections/${known.id}`;
  const change = changeOf(known.version, base, draft);
  /** Sends the change; null when someone else was first. */
  async function sendChange<T>(
    method: 'PATCH' | 'POST',
    to: string,
    body: ConnectionChange,
  ): Promise<T | null> {
    try {
      return await send<T>(method, to, body);
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
  }
  const test = useMutation({
    mutationFn: (body: ConnectionChange) => sendChange<ConnectionTest>('POST', `${path}/test`, body),
    onSuccess: (tested) =>
      tested &&
      announce(tested.reachable ? 'Connected to the database' : 'Could not connect to the database'),
  });
  const save = useMutation({
    mutationFn: (body: ConnectionChange) => sendChange<ConnectionSettings>('PATCH', path, body),
    async onSuccess(saved) {
      if (saved === null) return;
      await renew();
      notify('Saved');
      onClose();
    },
  });
  const error = save.error ?? test.error;
  const isTested = JSON.stringify(test.variables) === JSON.stringify(change);
  // What to do about a failure stays while it is being done.
  const result = (isTested || test.data?.reachable === false) && !test.isPending ? test.data : null;
  const onChange = (changed: Partial<ConnectionDraft>) => setDraft((old) => ({ ...old, ...changed }));
  const bind = bindTo(draft, onChange);
  const fields = { draft, onChange };
  return (
    <FormDialog
      action="Save"
      actions={
        <Button
          isPending={test.isPending}
          onPress={() => {
            save.reset();
            test.mutate(change);
          }}
        >
          {test.isPending ? 'Testing (up to a minute)' : 'Test connection'}
        </Button>
      }
      isChanged={!isUnchanged}
      isDisabled={isUnchanged}
      isBusy={test.isPending}
      onClose={onClose}
      onSubmit={() => {
        test.reset();
        save.mutate(change);
      }}
      title="Edit connection"
      wide
      work={{ ...save, error, mutate: () => save.mutate(change) }}
    >
      <div className="connection-fields">
        {clash && <EditConflict clash={clash} />}
        <TextField {...bind('name')} isRequired label="Name" maxLength={200} />
        {known.token_source === null ? (
          <>
            <DatabaseFields {...fields} isEngineFixed />
            <LoginFields
              {...fields}
              hasPassword={known.has_password}
              isPasswordNeeded={known.has_password && needsPassword(base, draft)}
            />
            <SecurityFields
              {...fields}
              hasCertificates={known.ca_fingerprints.length > 0}
              hasSshKey={known.ssh?.has_key === true && !needsSshKey(base, draft)}
            />
          </>
        ) : (
          <p className="quiet">
            This connection logs in by a token from <bdi className="mono">{known.token_source}</bdi>, so only
            the operator changes its address, login and TLS, with{' '}
            <span className="mono">dbvitals connection change</span>.
          </p>
        )}
        <CheckFields {...fields} />
        {result && <TestResult onTls={(tls) => onChange({ tls })} test={result} />}
      </div>
    </FormDialog>
  );
}
