import type { Channel } from '../../../../../src/vocabulary/channels.ts';
import { TextField } from '../../../parts/field.tsx';
import { bindTo } from '../../../parts/use-draft.ts';
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
export function AddressFields({ channel, isNew, privateAllowed, draft, onChange }: AddressFieldsProps) {
  const bind = bindTo(draft, onChange);
  const { address, placeholder } = CHANNEL_TEXTS[channel];
  if (channel === 'email') {
    return (
      <TextField
        {...bind('recipients')}
        autoFocus
        description="One address per line. Each recipient confirms by a link before the first message."
        isRequired
        label={address}
        mono
        placeholder={placeholder}
        rows={3}
      />
    );
  }
  if (channel === 'pagerduty') {
    return (
      <TextField
        {...bind('routingKey')}
        autoComplete="off"
        autoFocus
        description={isNew ? STORED : KEPT}
        isRequired={isNew}
        label={address}
        maxLength={200}
        mono
        placeholder={placeholder}
        type="password"
      />
    );
  }
  const isSecret = hasSecretUrl(channel);
  return (
    <>
      <TextField
        {...bind('url')}
        autoComplete="off"
        autoFocus
        description={urlHelp(isNew, isSecret, privateAllowed)}
        isRequired={isNew}
        label={address}
        maxLength={2_000}
        mono
        placeholder={placeholder}
        // Not `url`: the service says in a sentence what is wrong with an address.
        type={isSecret ? 'password' : 'text'}
      />
      {channel === 'alertmanager' && <AuthorizationField draft={draft} isNew={isNew} onChange={onChange} />}
      {TOKENS[channel] !== undefined && (
        <TextField
          {...bind('authorization')}
          autoComplete="off"
          description={isNew ? `${TOKEN_FORMS[channel] ?? ''}${STORED}` : KEPT}
          isRequired={isNew}
          label={TOKENS[channel]}
          maxLength={2_000}
          mono
          type="password"
        />
      )}
    </>
  );
}

/** How the authorization of a channel is entered, if it has parts. */
const TOKEN_FORMS: Partial<Record<Channel, string>> = {
  s3: 'ACCESS_KEY_ID:SECRET_ACCESS_KEY. ',
  sentinel: 'TENANT_ID:CLIENT_ID:CLIENT_SECRET. ',
};

/** What the required authorization of a channel is called. */
const TOKENS: Partial<Record<Channel, string>> = {
  s3: 'Access key',
  splunk_hec: 'Token',
  elastic: 'API key',
  sentinel: 'App registration',
};

/** An optional Authorization header, such as for a proxy. */
export function AuthorizationField({ isNew, draft, onChange }: DestinationFieldsProps & { isNew: boolean }) {
  const bind = bindTo(draft, onChange);
  return (
    <TextField
      {...bind('authorization')}
      autoComplete="off"
      description={
        isNew
          ? 'Optional: the value of the Authorization header, such as “Bearer …”, or a header such as “DD-API-KEY: …”.'
          : KEPT
      }
      label="Authorization"
      maxLength={2_000}
      mono
      type="password"
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
