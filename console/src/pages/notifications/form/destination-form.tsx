import type {
  Destination,
  DestinationChangesBody,
  Destinations,
  NewDestinationBody,
  StoredDestination,
} from '../../../../../src/console-api/notifications/destination-schemas.ts';
import {
  type Channel,
  EVENTLESS_CHANNELS,
  GROUPING_CHANNELS,
  LOG_CHANNELS,
} from '../../../../../src/vocabulary/channels.ts';
import { DIGEST_DAYS } from '../../../../../src/vocabulary/event-kinds.ts';
import { send } from '../../../api.ts';
import { ConnectionChoice } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { Select, TextField } from '../../../parts/field.tsx';
import { useAction } from '../../../parts/use-action.ts';
import { bindTo, type FieldsProps, useDraft } from '../../../parts/use-draft.ts';
import { CHANNEL_TEXTS, newName } from '../channel-texts.ts';
import { DIGEST_DAY_TEXTS } from '../digest-texts.ts';
import { AddressFields } from './address-fields.tsx';
import { type DestinationDraft, draftOf, inputOf, newDraft, newInputOf } from './destination-draft.ts';
import { EventFields } from './event-fields.tsx';
import { MoreFields } from './more-fields.tsx';
import { StreamFields } from './stream-fields.tsx';

export type DestinationFieldsProps = FieldsProps<DestinationDraft>;

interface AddProps {
  channel: Channel;
  known: Destinations;
  onClose: () => void;
  onAdded: (made: StoredDestination) => void;
}

/** The form for a new destination. Only its address is left to enter: the rest has defaults. */
export function AddDestination({ channel, known, onClose, onAdded }: AddProps) {
  const { draft, isChanged, change } = useDraft(() =>
    newDraft(
      newName(
        channel,
        known.items.map(({ name }) => name),
      ),
    ),
  );
  const add = useAction({
    request: () =>
      send<StoredDestination>(
        'POST',
        '/destinations',
        newInputOf(channel, draft) satisfies NewDestinationBody,
      ),
    onDone: onAdded,
  });
  const { name, where } = CHANNEL_TEXTS[channel];
  return (
    <FormDialog
      action={channel === 'email' ? 'Add and ask to confirm' : 'Add and send test'}
      isChanged={isChanged}
      onClose={onClose}
      title={`Add ${name}`}
      wide
      work={add}
    >
      <p className="quiet">{where}</p>
      <Fields
        channel={channel}
        draft={draft}
        isNew
        onChange={change}
        privateAllowed={known.sending.privateAllowed}
      />
    </FormDialog>
  );
}

interface ChangeProps {
  destination: Destination;
  privateAllowed: boolean;
  onClose: () => void;
  onChanged: (stored: StoredDestination) => void;
}

/** The form for an existing destination. */
export function ChangeDestination({ destination, privateAllowed, onClose, onChanged }: ChangeProps) {
  const { id, channel, name } = destination;
  const { draft, isChanged, change } = useDraft(() => draftOf(destination));
  const save = useAction({
    request: () =>
      send<StoredDestination>(
        'PATCH',
        `/destinations/${id}`,
        inputOf(channel, draft) satisfies DestinationChangesBody,
      ),
    onDone: onChanged,
  });
  return (
    <FormDialog
      action="Save"
      isChanged={isChanged}
      onClose={onClose}
      title={`Change ${name}`}
      wide
      work={save}
    >
      <Fields
        channel={channel}
        draft={draft}
        isNew={false}
        onChange={change}
        privateAllowed={privateAllowed}
      />
    </FormDialog>
  );
}

interface AllFieldsProps extends DestinationFieldsProps {
  channel: Channel;
  isNew: boolean;
  privateAllowed: boolean;
}

function Fields({ channel, isNew, privateAllowed, ...props }: AllFieldsProps) {
  const { draft, onChange } = props;
  const bind = bindTo(draft, onChange);
  return (
    <div className="destination-form">
      <AddressFields {...props} channel={channel} isNew={isNew} privateAllowed={privateAllowed} />
      <TextField {...bind('name')} isRequired label="Name" maxLength={200} />
      {!EVENTLESS_CHANNELS.includes(channel) && (
        <>
          <EventFields {...props} />
          <ConnectionChoice draft={draft} onChange={onChange} />
        </>
      )}
      {GROUPING_CHANNELS.includes(channel) && <DigestFields {...props} />}
      {LOG_CHANNELS.includes(channel) && <StreamFields {...props} isNew={isNew} />}
      <MoreFields {...props} channel={channel} isNew={isNew} />
    </div>
  );
}

const CHOICES = [
  { id: 'never', label: 'Never' },
  ...DIGEST_DAYS.map((id) => ({ id, label: DIGEST_DAY_TEXTS[id] })),
];

/** When a digest is sent. */
function DigestFields({ draft, onChange }: DestinationFieldsProps) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <Select
        // What is wrong with a schedule is its time zone: the sentence stands there, once.
        {...bind('digest', draft.digest === 'never' ? 'digest' : 'digest_day')}
        choices={CHOICES}
        description="What opened, closed, stayed open and grew, on one screen. It is sent without problems too."
        label="Digest"
      />
      {draft.digest !== 'never' && (
        <div className="side-by-side">
          <TextField {...bind('digestAt')} isRequired label="Digest at" type="time" />
          <TextField
            {...bind('digestZone', 'digest')}
            isRequired
            label="Time zone of the digest"
            maxLength={60}
          />
        </div>
      )}
    </>
  );
}
