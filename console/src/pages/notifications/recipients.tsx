import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { send } from '../../api.ts';
import { notify, notifyFailure } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { InlineError } from '../../parts/states.tsx';
import type { Status } from '../../parts/status-looks.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useAction } from '../../parts/use-action.ts';

type Recipient = Destination['recipients'][number];

const LOOKS: Record<Recipient['state'], { status: Status; word: string }> = {
  confirmed: { status: 'active', word: 'Confirmed' },
  unconfirmed: { status: 'invited', word: 'Waiting for confirmation' },
  unsubscribed: { status: 'revoked', word: 'Unsubscribed' },
};

const COLUMNS: Column<Recipient>[] = [
  {
    header: 'Address',
    width: 'minmax(0, 2fr)',
    narrow: 'lead',
    cell: ({ email }) => <bdi>{email}</bdi>,
  },
  {
    header: 'State',
    width: 'minmax(11rem, 1fr)',
    cell: ({ state }) => <StatusMark quiet status={LOOKS[state].status} word={LOOKS[state].word} />,
  },
];

function askedText(count: number): string {
  return count === 1 ? '1 recipient was asked again' : `${count} recipients were asked again`;
}

/** The recipients of an e-mail destination, with a button that sends the links to confirm again. */
export function Recipients({ destination, mayWrite }: { destination: Destination; mayWrite: boolean }) {
  const { id, recipients } = destination;
  const ask = useAction({
    request: () => send<{ asked: string[] }>('POST', `/destinations/${id}/ask-again`),
    renews: ['destinations'],
    onDone({ asked }) {
      if (asked.length === 0) notifyFailure('No link sent. Wait an hour between links.');
      else notify(askedText(asked.length));
    },
  });
  const isWaiting = recipients.some(({ state }) => state === 'unconfirmed');
  return (
    <Section
      actions={
        mayWrite &&
        isWaiting && (
          <Button icon="again" isPending={ask.isPending} onPress={() => ask.mutate()}>
            Ask again
          </Button>
        )
      }
      description="Messages go to confirmed recipients only."
      title="Recipients"
    >
      <InlineError error={ask.error} />
      <Table columns={COLUMNS} label="Recipients" rowKey={({ email }) => email} rows={recipients} />
    </Section>
  );
}
