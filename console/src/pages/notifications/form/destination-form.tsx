import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
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
import { fieldError, send } from '../../../api.ts';
import { ConnectionChoice } from '../../../parts/connection-choice.tsx';
import { FormDialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { InlineError } from '../../../parts/states.tsx';
import { CHANNEL_TEXTS, newName } from '../channel-texts.ts';
import { AddressFields } from './address-fields.tsx';
import { type DestinationDraft, draftOf, inputOf, newDraft, newInputOf } from './destination-draft.ts';
import { DigestFields } from './digest-fields.tsx';
import { EventFields } from './event-fields.tsx';
import { MoreFields } from './more-fields.tsx';
import { StreamFields } from './stream-fields.tsx';

/** The parameters whose errors stand at their fields. */
const FIELDS = [
  'name',
  'url',
  'routing_key',
  'authorization',
  'recipients',
  'kinds',
  'minimum_severity',
  'connections',
  'requests_per_second',
  'quiet_hours',
  'digest',
  'action_types',
  'actors',
  'from_id',
];

export interface DestinationFieldsProps {
  draft: DestinationDraft;
  onChange: (changed: Partial<DestinationDraft>) => void;
  /** The error of the last attempt. An error about one field is shown at that field. */
  error: unknown;
}

interface AddProps {
  channel: Channel;
  known: Destinations;
  onClose: () => void;
  onAdded: (made: StoredDestination) => void;
}

/** The form for a new destination. Only its address is left to enter: the rest has defaults. */
export function AddDestination({ channel, known, onClose, onAdded }: AddProps) {
  const [first] = useState(() =>
    newDraft(
      newName(
        channel,
        known.items.map(({ name }) => name),
      ),
    ),
  );
  const [draft, setDraft] = useState(first);
  const add = useMutation({
    mutationFn: (body: NewDestinationBody) => send<StoredDestination>('POST', '/destinations', body),
    gcTime: 0, // the request and the answer hold secrets
    onSuccess: onAdded,
  });
  const { name, where } = CHANNEL_TEXTS[channel];
  return (
    <FormDialog
      action={channel === 'email' ? 'Add and ask to confirm' : 'Add and send test'}
      isChanged={draft !== first}
      isPending={add.isPending}
      onClose={onClose}
      onSubmit={() => add.mutate(newInputOf(channel, draft))}
      title={`Add ${name}`}
      wide
    >
      <p className="quiet">{where}</p>
      <Fields
        channel={channel}
        draft={draft}
        error={add.error}
        isNew
        onChange={(changed) => setDraft({ ...draft, ...changed })}
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
  const [first] = useState(() => draftOf(destination));
  const [draft, setDraft] = useState(first);
  const change = useMutation({
    mutationFn: (body: DestinationChangesBody) =>
      send<StoredDestination>('PATCH', `/destinations/${id}`, body),
    gcTime: 0, // the request and the answer may hold secrets
    onSuccess: onChanged,
  });
  return (
    <FormDialog
      action="Save"
      isChanged={draft !== first}
      isPending={change.isPending}
      onClose={onClose}
      onSubmit={() => change.mutate(inputOf(channel, draft))}
      title={`Change ${name}`}
      wide
    >
      <Fields
        channel={channel}
        draft={draft}
        error={change.error}
        isNew={false}
        onChange={(changed) => setDraft({ ...draft, ...changed })}
        privateAllowed={privateAllowed}
      />
    </FormDialog>
  );
}

interface FieldsProps extends DestinationFieldsProps {
  channel: Channel;
  isNew: boolean;
  privateAllowed: boolean;
}

function Fields({ channel, isNew, privateAllowed, ...props }: FieldsProps) {
  const { draft, error, onChange } = props;
  return (
    <div className="destination-form">
      <InlineError error={error} fields={FIELDS} />
      <AddressFields {...props} channel={channel} isNew={isNew} privateAllowed={privateAllowed} />
      <TextField
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={(name) => onChange({ name })}
        value={draft.name}
      />
      {!EVENTLESS_CHANNELS.includes(channel) && (
        <>
          <EventFields {...props} />
          <ConnectionChoice draft={props.draft} error={props.error} onChange={props.onChange} />
        </>
      )}
      {GROUPING_CHANNELS.includes(channel) && <DigestFields {...props} />}
      {LOG_CHANNELS.includes(channel) && <StreamFields {...props} isNew={isNew} />}
      <MoreFields {...props} channel={channel} isNew={isNew} />
    </div>
  );
}
