import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { RegeneratedKey, Regeneration } from '../../../../src/console-api/keys/change-keys.ts';
import { send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { RadioGroup } from '../../parts/field.tsx';
import { inBothZones } from '../../parts/time.tsx';
import { type ApiKey, overlapChoices } from './api-key-lifetime.ts';
import type { NewSecret } from './secret-dialog.tsx';

interface RegenerateKeyProps {
  subject: ApiKey;
  lastUsedAt: string | null;
  onClose: () => void;
  onMade: (secret: NewSecret) => void;
}

/** Asks when the old key stops working. For a key in use the default is an hour, to give time to deploy the new one. */
export function RegenerateApiKey({ subject, lastUsedAt, onClose, onMade }: RegenerateKeyProps) {
  const { id, name, expires_at } = subject;
  const [choices] = useState(() => overlapChoices(expires_at, Date.now()));
  const longest = choices.at(-1)?.seconds ?? 0;
  const [overlap, setOverlap] = useState(lastUsedAt === null ? 0 : Math.min(3_600, longest));
  const queries = useQueryClient();
  const regenerate = useMutation({
    mutationFn: () =>
      send<RegeneratedKey>('POST', `/keys/${id}/regenerate`, { overlap } satisfies Regeneration),
    gcTime: 0, // the answer holds the key
    onSuccess: (made) => onMade({ ...made, name }),
    onError: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const ends = endOf(overlap, expires_at);
  return (
    <FormDialog action="Regenerate" onClose={onClose} title="Regenerate this key?" work={regenerate}>
      <p>
        This creates a new key for <bdi className="keys-name">{name}</bdi> with the same name, note and
        lifetime. Choose when the old key, <code>dbv_live_…{subject.last_four}</code>, stops working.
      </p>
      <RadioGroup
        choices={choices.map(({ seconds, label }) => ({ id: String(seconds), label }))}
        label="The old key stops working"
        onChange={(chosen) => setOverlap(Number(chosen))}
        value={String(overlap)}
      />
      <p aria-live="polite" className="quiet">
        {ends === null
          ? 'Clients that still use the old key stop working immediately.'
          : `Both keys work until ${inBothZones(ends, { seconds: true })}.`}
      </p>
    </FormDialog>
  );
}

function endOf(overlap: number, expiresAt: string | null): Date | null {
  if (overlap === 0) return null;
  const end = Date.now() + overlap * 1000;
  return new Date(expiresAt === null ? end : Math.min(end, new Date(expiresAt).getTime()));
}
