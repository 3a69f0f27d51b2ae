import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { ConfirmRequest } from '../../parts/confirm-request.tsx';
import { Confirm, Dialog, FormDialog } from '../../parts/dialog.tsx';
import { RadioGroup } from '../../parts/field.tsx';
import { figure } from '../../parts/figure.ts';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { seenAt } from './added-dialog.tsx';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import { type SentTest, TestAnswer } from './test-answer.tsx';

interface StepProps {
  destination: Destination;
  onClose: () => void;
}

/** A test or a digest that was sent to an existing destination. */
export function TestDialog({
  destination,
  test,
  what,
  onClose,
}: StepProps & { test: SentTest; what: 'test' | 'digest' }) {
  return (
    <Dialog
      done="Close"
      onClose={onClose}
      title={what === 'test' ? `Test of ${destination.name}` : `Digest to ${destination.name}`}
    >
      <TestAnswer id={destination.id} sent={seenAt(destination.channel, what)} test={test} what={what} />
    </Dialog>
  );
}

/** Asks when the old secret ends, then shows the new one. */
export function RotateDialog({ destination, onClose }: StepProps) {
  const { draft, bind } = useDraft({ ends: 'later' });
  const isNow = draft.ends === 'now';
  const rotate = useAction({
    request: () =>
      send<{ signing_secret: string }>('POST', `/destinations/${destination.id}/rotate-secret`, {
        end_old: isNow,
      }),
    renews: ['destinations'],
  });
  if (rotate.data) {
    return (
      <SigningSecretDialog
        onDone={onClose}
        secret={rotate.data.signing_secret}
        title="Your new signing secret"
      >
        <p>
          {isNow
            ? 'The old secret is no longer used.'
            : 'For 24 hours each request is signed with both secrets. Deploy the new one before they end.'}
        </p>
      </SigningSecretDialog>
    );
  }
  return (
    <FormDialog action="Rotate secret" onClose={onClose} title="Rotate the signing secret?" work={rotate}>
      <p>
        <bdi>{destination.name}</bdi> gets a new signing secret.
      </p>
      <RadioGroup
        {...bind('ends', 'end_old')}
        choices={[
          { id: 'later', label: 'After 24 hours', description: 'Until then requests carry both signatures.' },
          { id: 'now', label: 'Now', description: 'For a secret that leaked.' },
        ]}
        label="The old secret stops working"
      />
    </FormDialog>
  );
}

/** Enables a destination, and asks what to do with the events that it missed. */
export function EnableDialog({ destination, onClose }: StepProps) {
  const { id, name, queue } = destination;
  const { draft, bind } = useDraft({ missed: 'send' });
  const enable = useAction({
    request: () => send('POST', `/destinations/${id}/enable`, draft),
    renews: ['destinations'],
    done: `${name} enabled`,
    onDone: onClose,
  });
  const count = figure(queue.queued);
  return (
    <FormDialog action="Enable" onClose={onClose} title={`Enable ${name}?`} work={enable}>
      {queue.queued === 0 ? (
        <p>It gets new events from now on. It missed none.</p>
      ) : (
        <RadioGroup
          {...bind('missed')}
          choices={[
            {
              id: 'send',
              label: `Send missed events (${count})`,
              description: 'In the order of the events.',
            },
            {
              id: 'skip',
              label: 'Skip missed events',
              description: 'The deliveries stay listed as cancelled.',
            },
          ]}
          label={queue.queued === 1 ? 'One event waits' : `${count} events wait`}
        />
      )}
    </FormDialog>
  );
}

/** Asks for confirmation before a destination is disabled. */
export function DisableDialog({ destination: { id, name }, onClose }: StepProps) {
  return (
    <ConfirmRequest
      action="Disable"
      done={`${name} disabled`}
      onClose={onClose}
      renews={['destinations']}
      request={() => send('POST', `/destinations/${id}/disable`)}
      title={`Disable ${name}?`}
    >
      <p>Nothing is sent until you enable it. Its events wait, and you can send them then.</p>
    </ConfirmRequest>
  );
}

/** Asks for confirmation before a destination is removed. */
export function RemoveDialog({ destination, onClose, onRemoved }: StepProps & { onRemoved: () => void }) {
  const { id, name, queue } = destination;
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => send('DELETE', `/destinations/${id}`),
    async onSuccess() {
      onRemoved();
      // Only the list: its deliveries are no longer found.
      await queries.invalidateQueries({ queryKey: ['destinations'], exact: true });
      notify(`${name} removed`);
    },
  });
  return (
    <Confirm action="Remove destination" onClose={onClose} title="Remove this destination?" work={remove}>
      <p>
        “<bdi>{name}</bdi>” gets nothing more, and its stored secrets are deleted.
        {queue.queued > 0 && ` ${figure(queue.queued)} queued deliveries are cancelled.`} This can’t be
        undone.
      </p>
    </Confirm>
  );
}
