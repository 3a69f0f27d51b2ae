import type { Channel } from '../../../../../src/vocabulary/channels.ts';
import { fieldError } from '../../../api.ts';
import { TextField } from '../../../parts/field.tsx';
import { CHANNEL_TEXTS, hasSecretUrl } from '../channel-texts.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

interface AddressFieldsProps extends DestinationFieldsProps {
  channel: Channel;
  isNew: boolean;
  privateAllowed: boolean;
}

const STORED = 'Stored encrypted and never shown again.';
const KEPT = 'Leave empty to keep the stored one.';

/** Where a channel sends: its URL, key or recipients. */
export function AddressFields({
  channel,
  isNew,
  privateAllowed,
  draft,
  onChange,
  error,
}: AddressFieldsProps) {
  const { address, placeholder } = CHANNEL_TEXTS[channel];
  if (channel === 'email') {
    return (
      <TextField
        autoFocus
        description="One address per line. Each recipient confirms by a link before the first message."
        error={fieldError(error, 'recipients')}
        isRequired
        label={address}
        mono
        onChange={(recipients) => onChange({ recipients })}
        placeholder={placeholder}
        rows={3}
        value={draft.recipients}
      />
    );
  }
  if (channel === 'pagerduty') {
    return (
      <TextField
        autoComplete="off"
        autoFocus
        description={isNew ? STORED : KEPT}
        error={fieldError(error, 'routing_key')}
        isRequired={isNew}
        label={address}
        maxLength={200}
        mono
        onChange={(routingKey) => onChange({ routingKey })}
        placeholder={placeholder}
        type="password"
        value={draft.routingKey}
      />
    );
  }
  const isSecret = hasSecretUrl(channel);
  return (
    <>
      <TextField
        autoComplete="off"
        autoFocus
        description={urlHelp(isNew, isSecret, privateAllowed)}
        error={fieldError(error, 'url')}
        isRequired={isNew}
        label={address}
        maxLength={2_000}
        mono
        onChange={(url) => onChange({ url })}
        placeholder={placeholder}
        // Not `url`: the service says in a sentence what is wrong with an address.
        type={isSecret ? 'password' : 'text'}
        value={draft.url}
      />
      {channel === 'alertmanager' && (
        <AuthorizationField draft={draft} error={error} isNew={isNew} onChange={onChange} />
      )}
      {(channel === 's3' || channel === 'splunk_hec') && (
        <TextField
          autoComplete="off"
          description={
            isNew ? `${channel === 's3' ? 'ACCESS_KEY_ID:SECRET_ACCESS_KEY. ' : ''}${STORED}` : KEPT
          }
          error={fieldError(error, 'authorization')}
          isRequired={isNew}
          label={channel === 's3' ? 'Access key' : 'Token'}
          maxLength={2_000}
          mono
          onChange={(authorization) => onChange({ authorization })}
          type="password"
          value={draft.authorization}
        />
      )}
    </>
  );
}

/** An optional Authorization header, such as for a proxy. */
export function AuthorizationField({
  isNew,
  draft,
  onChange,
  error,
}: DestinationFieldsProps & { isNew: boolean }) {
  return (
    <TextField
      autoComplete="off"
      description={isNew ? 'Optional: the value of the Authorization header, such as “Bearer …”.' : KEPT}
      error={fieldError(error, 'authorization')}
      label="Authorization"
      maxLength={2_000}
      mono
      onChange={(authorization) => onChange({ authorization })}
      type="password"
      value={draft.authorization}
    />
  );
}

function urlHelp(isNew: boolean, isSecret: boolean, privateAllowed: boolean): string {
  if (!isNew) return KEPT;
  if (isSecret) return `The URL is a password. ${STORED}`;
  return privateAllowed
    ? 'Private addresses and http: are allowed on this service.'
    : 'An https: address that the internet can reach.';
}
