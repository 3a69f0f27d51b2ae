import type { StoredDestination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { figure } from '../../parts/figure.ts';
import { InlineError } from '../../parts/states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { SigningSecretDialog } from './signing-secret-dialog.tsx';
import { type SentTest, TestAnswer } from './test-answer.tsx';

interface AddedDialogProps {
  made: StoredDestination;
  test: SentTest;
  /** Opens the form again, to mend an address that did not work. */
  onChange: () => void;
  onDone: () => void;
}

/** After a destination was added: the answer to its test, and a webhook's signing secret. */
export function AddedDialog({ made, test, onChange, onDone }: AddedDialogProps) {
  const { destination, signing_secret, open_tickets } = made;
  const { id, name, channel, recipients } = destination;
  const failed = test.isError || test.data?.accepted === false;
  return (
    <SigningSecretDialog
      actions={failed && signing_secret === null && <Button onPress={onChange}>Change settings</Button>}
      onDone={onDone}
      secret={signing_secret}
      title={`${CHANNEL_TEXTS[channel].name} added`}
    >
      {channel === 'email' ? (
        <>
          <p>
            <bdi>{name}</bdi> sends its first message after a recipient confirms. Each of them got a link:
          </p>
          <ul className="asked-recipients">
            {recipients.map(({ email }) => (
              <li key={email}>
                <bdi>{email}</bdi>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <TestAnswer id={id} sent={seenAt(channel)} test={test} />
          {open_tickets > 0 && test.data?.accepted && <SendOpen count={open_tickets} id={id} />}
        </>
      )}
    </SigningSecretDialog>
  );
}

/** Sends what was found before the destination was added, once. */
function SendOpen({ id, count }: { id: number; count: number }) {
  const { data, error, isPending, mutate } = useAction({
    request: () => send<{ queued: number }>('POST', `/destinations/${id}/send-open-tickets`),
  });
  return (
    <div className="send-open">
      {data ? (
        <p role="status">
          {data.queued === 1
            ? 'The open ticket is being sent.'
            : `${figure(data.queued)} open tickets are being sent.`}
        </p>
      ) : (
        <Button isPending={isPending} onPress={() => mutate()}>
          {count === 1 ? 'Send the open ticket now' : `Send the ${figure(count)} open tickets now`}
        </Button>
      )}
      <InlineError error={error} />
    </div>
  );
}

/** Where to look for a test or a digest that was sent. */
export function seenAt(
  channel: StoredDestination['destination']['channel'],
  what: 'test' | 'digest' = 'test',
): string {
  if (what === 'digest')
    return channel === 'email'
      ? 'Look for it in the recipients’ inboxes.'
      : `It is now in ${CHANNEL_TEXTS[channel].name}.`;
  if (channel === 'heartbeat') return 'The check at your service shows the ping now.';
  if (channel === 'webhook') return 'Your service got an event of the type “test”.';
  if (channel === 'email') return 'Look for “test” in the recipients’ inboxes.';
  if (channel === 'pagerduty') return 'PagerDuty got a test and resolved it.';
  return `The test message is now in ${CHANNEL_TEXTS[channel].name}.`;
}
