import { useState } from 'react';
import { type Channel, EVENTLESS_CHANNELS, SIGNED_CHANNELS } from '../../../../../src/vocabulary/channels.ts';
import { fieldError } from '../../../api.ts';
import { Checkbox, RadioGroup, Select, TextField } from '../../../parts/field.tsx';
import { AuthorizationField } from './address-fields.tsx';
import { takesAuthorization } from './destination-draft.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

interface MoreFieldsProps extends DestinationFieldsProps {
  channel: Channel;
  isNew: boolean;
}

/** The channels whose authorization stands beside the address. */
const FIRST: readonly Channel[] = ['alertmanager', 's3', 'splunk_hec'];

const WRONG = ['requests_per_second', 'quiet_hours', 'authorization', 'region', 'encryption'];

/** What few destinations need. Open when some of it is set or wrong. */
export function MoreFields(props: MoreFieldsProps) {
  const { channel, isNew, draft, onChange, error } = props;
  const [isSet] = useState(draft.hasQuietHours || draft.rate !== '50');
  const isWrong = WRONG.some((field) => fieldError(error, field));
  return (
    <details className="more-options" open={isSet || isWrong}>
      <summary>More options</summary>
      <div className="more-fields">
        {takesAuthorization(channel) && !FIRST.includes(channel) && <AuthorizationField {...props} />}
        {SIGNED_CHANNELS.includes(channel) && isNew && (
          <RadioGroup
            choices={[
              {
                id: 'hmac',
                label: 'A shared secret',
                description: 'HMAC-SHA256, which every library supports.',
              },
              {
                id: 'ed25519',
                label: 'A key pair',
                description: 'Ed25519: the receiver has the public key only.',
              },
            ]}
            label="Sign with"
            onChange={(id) => onChange({ signature: id === 'ed25519' ? 'ed25519' : 'hmac' })}
            value={draft.signature}
          />
        )}
        {channel === 'heartbeat' && isNew && (
          <Select
            choices={[
              { id: 'GET', label: 'GET' },
              { id: 'POST', label: 'POST' },
            ]}
            label="Method"
            onChange={(id) => onChange({ method: id === 'POST' ? 'POST' : 'GET' })}
            value={draft.method}
          />
        )}
        {channel === 's3' && isNew && <BucketFields draft={draft} error={error} onChange={onChange} />}
        {!EVENTLESS_CHANNELS.includes(channel) && (
          <>
            <TextField
              description="At most this many requests per second, 1 to 50."
              error={fieldError(error, 'requests_per_second')}
              isRequired
              label="Rate limit"
              onChange={(rate) => onChange({ rate })}
              type="number"
              value={draft.rate}
            />
            <QuietHoursFields draft={draft} error={error} onChange={onChange} />
          </>
        )}
      </div>
    </details>
  );
}

function BucketFields({ draft, onChange, error }: DestinationFieldsProps) {
  return (
    <>
      <TextField
        description="Empty: as the URL says, or us-east-1."
        error={fieldError(error, 'region')}
        label="Region"
        maxLength={40}
        mono
        onChange={(region) => onChange({ region })}
        placeholder="eu-central-1"
        value={draft.region}
      />
      <TextField
        description="AES256, aws:kms or the ARN of a key of KMS. Empty: as the bucket does."
        error={fieldError(error, 'encryption')}
        label="Encryption"
        maxLength={340}
        mono
        onChange={(encryption) => onChange({ encryption })}
        value={draft.encryption}
      />
    </>
  );
}

function QuietHoursFields({ draft, onChange, error }: DestinationFieldsProps) {
  return (
    <>
      <Checkbox isSelected={draft.hasQuietHours} onChange={(hasQuietHours) => onChange({ hasQuietHours })}>
        Quiet hours
        <span className="field-description">
          Warnings wait until the end of these hours, then come as one digest. Critical events are sent at
          once.
        </span>
      </Checkbox>
      {draft.hasQuietHours && (
        <>
          <div className="side-by-side">
            <TextField
              isRequired
              label="From"
              onChange={(from) => onChange({ from })}
              type="time"
              value={draft.from}
            />
            <TextField
              isRequired
              label="To"
              onChange={(to) => onChange({ to })}
              type="time"
              value={draft.to}
            />
          </div>
          <TextField
            error={fieldError(error, 'quiet_hours')}
            isRequired
            label="Time zone"
            maxLength={60}
            onChange={(timeZone) => onChange({ timeZone })}
            value={draft.timeZone}
          />
        </>
      )}
    </>
  );
}
