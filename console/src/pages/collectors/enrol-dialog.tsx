import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  Collector,
  IssuedToken,
  NewToken,
} from '../../../../src/console-api/collectors/collector-routes.ts';
import { fieldError, send } from '../../api.ts';
import { FormDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { InlineError } from '../../parts/states.tsx';

interface EnrolDialogProps {
  /** The collector that gets a new key; null for a new collector. */
  known: Collector | null;
  onClose: () => void;
  onIssued: (issued: IssuedToken) => void;
}

/** Makes a token with which a collector enrols itself. */
export function EnrolDialog({ known, onClose, onIssued }: EnrolDialogProps) {
  const [name, setName] = useState(known?.name ?? '');
  const issue = useMutation({
    mutationFn: (body: NewToken) => send<IssuedToken>('POST', '/collectors', body),
    gcTime: 0, // the answer holds the token
    onSuccess: onIssued,
  });
  const { error } = issue;
  return (
    <FormDialog
      action="Make token"
      isPending={issue.isPending}
      onClose={onClose}
      onSubmit={() => issue.mutate({ name: name.trim() })}
      title={known ? 'Make a new token' : 'Enrol a collector'}
    >
      <InlineError error={error} fields={['name']} />
      {known ? (
        <p>
          The token gives <bdi>{known.name}</bdi> a new key. Its old key is valid until the token is used.
        </p>
      ) : (
        <TextField
          autoFocus
          description="Where it runs, such as “frankfurt”. Start the collector with the same name."
          error={fieldError(error, 'name')}
          isRequired
          label="Name"
          maxLength={200}
          onChange={setName}
          value={name}
        />
      )}
    </FormDialog>
  );
}
