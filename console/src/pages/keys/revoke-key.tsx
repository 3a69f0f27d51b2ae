import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Revocation, RevokedKey } from '../../../../src/console-api/keys/change-keys.ts';
import { ApiError, send } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Time } from '../../parts/time.tsx';
import { type ApiKey, isInUse } from './api-key-lifetime.ts';

interface RevokeKeyProps {
  subject: ApiKey;
  lastUsedAt: string | null;
  onClose: () => void;
}

/**
 * Revokes a key immediately. For a key used within the last hour, the name must be typed, because a client will stop
 * working.
 */
export function RevokeApiKey({ subject, lastUsedAt, onClose }: RevokeKeyProps) {
  const { id, name, last_four } = subject;
  const [wasInUse] = useState(() => isInUse(lastUsedAt, Date.now()));
  const [typed, setTyped] = useState('');
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: (body: Revocation) => send<RevokedKey>('POST', `/keys/${id}/revoke`, body),
    onSuccess: () => announce('Key revoked'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const { data, error } = revoke;
  // The key may have been used since the page was loaded: the service says so.
  const mustName = wasInUse || (error instanceof ApiError && error.status === 409) || typed !== '';
  const isNamed = !mustName || typed.trim() === name;
  if (data) return <Revoked at={data.revoked_at} lastFour={last_four} name={name} onClose={onClose} />;
  return (
    <FormDialog
      action="Revoke key"
      isDisabled={!isNamed}
      kind="danger"
      onClose={onClose}
      role="alertdialog"
      title="Revoke this key?"
      work={{ ...revoke, mutate: () => revoke.mutate(mustName ? { name: typed.trim() } : {}) }}
    >
      <p>
        <bdi className="keys-name">{name}</bdi>: requests with <code>dbv_live_…{last_four}</code> are refused
        immediately. This can’t be undone.
      </p>
      <p className={wasInUse ? 'keys-warning' : ''}>
        {wasInUse && <Icon name="clock" />}
        <span>
          {wasInUse && <strong>This key is in use: clients that use it will stop working. </strong>}
          {lastUsedAt === null ? (
            'This key was never used.'
          ) : (
            <>
              Last used <Time at={lastUsedAt} />
              {subject.last_used_from && ` from ${subject.last_used_from}`}:{' '}
              <Time as="full" at={lastUsedAt} />
            </>
          )}
        </span>
      </p>
      {mustName && (
        <>
          <p>
            To confirm, type the key’s name: <bdi className="keys-name">{name}</bdi>{' '}
            <CopyButton text={name} what="key name" />
          </p>
          <TextField
            autoComplete="off"
            autoFocus
            parameter="name"
            label="Key name"
            onChange={setTyped}
            value={typed}
          />
        </>
      )}
    </FormDialog>
  );
}

interface RevokedProps {
  at: string;
  name: string;
  lastFour: string;
  onClose: () => void;
}

function Revoked({ at, name, lastFour, onClose }: RevokedProps) {
  return (
    <Dialog done="Close" onClose={onClose} title="Key revoked">
      <p>
        <bdi className="keys-name">{name}</bdi>, <code>dbv_live_…{lastFour}</code>, was revoked{' '}
        <Time as="full" at={at} seconds />. It stays in the list with its requests.
      </p>
    </Dialog>
  );
}
