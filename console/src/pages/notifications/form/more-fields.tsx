import { useState } from 'react';
import { type Channel, EVENTLESS_CHANNELS, SIGNED_CHANNELS } from '../../../../../src/vocabulary/channels.ts';
import { Checkbox, RadioGroup, Select, TextField } from '../../../parts/field.tsx';
import { useParameterError } from '../../../parts/form-errors.tsx';
import { bindTo } from '../../../parts/use-draft.ts';
import { AuthorizationField } from './address-fields.tsx';
import { takesAuthorization } from './destination-draft.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

interface MoreFieldsProps extends DestinationFieldsProps {
  channel: Channel;
  isNew: boolean;
}

/** The channels whose authorization stands beside the address. */
const FIRST: readonly Channel[] = ['alertmanager', 'elastic', 's3', 'sentinel', 'splunk_hec'];

const WRONG = ['requests_per_second', 'quiet_hours', 'authorization', 'region', 'encryption'];

/** What few destinations need. Open when some of it is set or wrong. */
export function MoreFields(props: MoreFieldsProps) {
  const { channel, isNew, draft, onChange } = props;
  const bind = bindTo(draft, onChange);
  const [isSet] = useState(draft.hasQuietHours || draft.rate !== '50');
  const isWrong = useParameterError(WRONG) !== null;
  return (
    <details className="more-options" open={isSet || isWrong}>
      <summary>More options</summary>
      <div className="more-fields">
        {takesAuthorization(channel) && !FIRST.includes(channel) && <AuthorizationField {...props} />}
        {SIGNED_CHANNELS.includes(channel) && isNew && (
          <RadioGroup
            {...bind('signature')}
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
          />
        )}
        {channel === 'heartbeat' && isNew && (
          <Select
            {...bind('method')}
            choices={[
              { id: 'GET', label: 'GET' },
              { id: 'POST', label: 'POST' },
            ]}
            label="Method"
          />
        )}
        {channel === 's3' && isNew && <BucketFields draft={draft} onChange={onChange} />}
        {!EVENTLESS_CHANNELS.includes(channel) && (
          <>
            <TextField
              {...bind('rate', 'requests_per_second')}
              description="At most this many requests per second, 1 to 50."
              isRequired
              label="Rate limit"
              type="number"
            />
            <QuietHoursFields draft={draft} onChange={onChange} />
          </>
        )}
      </div>
    </details>
  );
}

function BucketFields({ draft, onChange }: DestinationFieldsProps) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <TextField
        {...bind('region')}
        description="Empty: as the URL says, or us-east-1."
        label="Region"
        maxLength={40}
        mono
        placeholder="eu-central-1"
      />
      <TextField
        {...bind('encryption')}
        description="AES256, aws:kms or the ARN of a key of KMS. Empty: as the bucket does."
        label="Encryption"
        maxLength={340}
        mono
      />
    </>
  );
}

function QuietHoursFields({ draft, onChange }: DestinationFieldsProps) {
  const bind = bindTo(draft, onChange);
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
            <TextField {...bind('from')} isRequired label="From" type="time" />
            <TextField {...bind('to')} isRequired label="To" type="time" />
          </div>
          <TextField {...bind('timeZone', 'quiet_hours')} isRequired label="Time zone" maxLength={60} />
        </>
      )}
    </>
  );
}
