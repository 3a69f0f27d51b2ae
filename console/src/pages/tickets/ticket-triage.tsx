import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { reasonInWords } from '../../../../src/platform/text/silence-reason-words.ts';
import { Button } from '../../parts/button.tsx';
import { endSilences } from '../../parts/end-silences.ts';
import { Named } from '../../parts/named.tsx';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { InlineError } from '../../parts/states.tsx';
import { local } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import type { TriageActions } from './use-triage-actions.tsx';

/** Who works on a ticket, who has seen it, and what can be done about it. */
export function TicketTriage({ ticket, actions }: { ticket: TicketDetail; actions: TriageActions }) {
  const { assignee, acknowledged, silence, status, state } = ticket;
  const { can, start, silence: startSilence, isPending } = actions;
  const isSeen = state === 'acknowledged' || state === 'snoozed';
  return (
    <div className="ticket-triage">
      <p>
        {assignee ? (
          <>
            Assigned to <bdi>{assignee.name}</bdi>
          </>
        ) : (
          'Unassigned'
        )}
        {acknowledged && (
          <>
            {acknowledged.until === null ? ' · acknowledged by ' : ' · snoozed by '}
            <bdi>{acknowledged.by}</bdi>
            {acknowledged.until !== null && ` until ${local(acknowledged.until)}`}
          </>
        )}
      </p>
      {can && status === 'open' && (
        <div className="page-actions">
          <Button isDisabled={isPending} onPress={() => start('assign', [ticket])} small>
            Assign
          </Button>
          <Button isDisabled={isPending} onPress={() => start('acknowledge', [ticket])} small>
            {isSeen ? 'Make new again' : 'Acknowledge'}
          </Button>
          <Button isDisabled={isPending} onPress={() => start('snooze', [ticket])} small>
            Snooze
          </Button>
          <Button isDisabled={isPending} onPress={() => startSilence(ticket)} small>
            Silence
          </Button>
        </div>
      )}
      {silence && <Silence canEnd={can} silence={silence} />}
    </div>
  );
}

function Silence({ silence, canEnd }: { silence: NonNullable<TicketDetail['silence']>; canEnd: boolean }) {
  const { id, by, reason, note, until } = silence;
  const refresh = useRenewConnections();
  const end = useAction({ request: () => endSilences([id], refresh) });
  return (
    <div className="ticket-silence">
      <p>
        Silenced{until === null && ' indefinitely'}
        <Named mono={false} name={by} words=" by " />
        {until !== null && ` until ${local(until)}`}: {reasonInWords(reason)}.
      </p>
      <p className="quiet">
        <bdi>{note}</bdi>
      </p>
      {canEnd && (
        <Button isPending={end.isPending} onPress={() => end.mutate()} small>
          End silence
        </Button>
      )}
      <InlineError error={end.error} />
    </div>
  );
}
