import type {
  Destination,
  Destinations,
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

interface DestinationFormProps {
  channel: Channel;
  /** Null = a new one. */
  destination: Destination | null;
  known: Destinations | undefined;
  onClose: () => void;
  onStored: (stored: StoredDestination) => void;
}

/** Adds or changes a destination. Of a new one, only its address is left to enter: the rest has defaults. */
export function DestinationForm({ channel, destination, known, onClose, onStored }: DestinationFormProps) {
  const { name, where } = CHANNEL_TEXTS[channel];
  const { draft, isChanged, change } = useDraft(() =>
    destination
      ? draftOf(destination)
      : newDraft(newName(channel, known?.items.map((one) => one.name) ?? [])),
  );
  const save = useAction({
    request: () =>
      destination
        ? send<StoredDestination>('PATCH', `/destinations/${destination.id}`, inputOf(channel, draft))
        : send<StoredDestination>('POST', '/destinations', newInputOf(channel, draft)),
    onDone: onStored,
  });
  const add = channel === 'email' ? 'Add and ask to confirm' : 'Add and send test';
  return (
    <FormDialog
      action={destination ? 'Save' : add}
      isChanged={isChanged}
      onClose={onClose}
      title={destination ? `Change ${destination.name}` : `Add ${name}`}
      wide
      work={save}
    >
      {!destination && <p className="quiet">{where}</p>}
      <Fields
        channel={channel}
        draft={draft}
        isNew={destination === null}
        onChange={change}
        privateAllowed={known?.sending.privateAllowed ?? false}
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
