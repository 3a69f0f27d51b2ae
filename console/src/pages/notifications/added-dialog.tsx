import type { StoredDestination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { Button } from '../../parts/button.tsx';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { ShownOnce } from './shown-once.tsx';
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
  const { destination, signing_secret } = made;
  const { id, name, channel, recipients } = destination;
  const failed = test.isError || test.data?.accepted === false;
  return (
    <ShownOnce
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
        <TestAnswer id={id} sent={seenAt(channel)} test={test} />
      )}
    </ShownOnce>
  );
}

/** Where to look for the test. */
export function seenAt(channel: StoredDestination['destination']['channel']): string {
  if (channel === 'heartbeat') return 'The check at your service shows the ping now.';
  if (channel === 'webhook') return 'Your service got an event of the type “test”.';
  if (channel === 'email') return 'Look for “test” in the recipients’ inboxes.';
  if (channel === 'pagerduty') return 'PagerDuty got a test and resolved it.';
  return `The test message is now in ${CHANNEL_TEXTS[channel].name}.`;
}
