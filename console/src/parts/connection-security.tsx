import './connection-fields.css';
import { verifiesServer } from '../../../src/vocabulary/tls-modes.ts';
import { isSocket } from './connection-draft.ts';
import type { ConnectionFieldsProps } from './connection-fields.tsx';
import { Checkbox, Select, TextField } from './field.tsx';
import { bindTo } from './use-draft.ts';

const TLS = [
  {
    id: 'verify-full',
    label: 'Verified (verify-full)',
    description: 'Traffic is encrypted. The server’s certificate and name are verified.',
  },
  {
    id: 'verify-ca',
    label: 'Verified, any name (verify-ca)',
    description:
      'Traffic is encrypted. The server’s certificate must be from the certificates below; its name is not verified.',
  },
  {
    id: 'require',
    label: 'Encrypted (require)',
    description: 'Traffic is encrypted. The server’s certificate is not verified.',
  },
  { id: 'disable', label: 'None (disable)', description: 'Traffic is not encrypted.' },
];

/** The fields for TLS and the SSH tunnel. */
export function SecurityFields({
  draft,
  onChange,
  hasSshKey = false,
  hasCertificates = false,
}: ConnectionFieldsProps & { hasSshKey?: boolean; hasCertificates?: boolean }) {
  const bind = bindTo(draft, onChange);
  if (isSocket(draft)) return null;
  return (
    <>
      <fieldset>
        <legend>Encryption</legend>
        <Select {...bind('tls')} choices={TLS} label="TLS" />
        {verifiesServer(draft.tls) && (
          <TextField
            {...bind('caCertificate')}
            description={
              hasCertificates
                ? 'PEM. Leave empty to keep the current certificates.'
                : draft.tls === 'verify-ca'
                  ? 'PEM. The authority that signed the certificate.'
                  : 'PEM. Only needed if no public authority signed the certificate. Enter aws-rds for those of Amazon RDS and Aurora.'
            }
            label="Trusted certificates"
            maxLength={65_536}
            mono
            placeholder="-----BEGIN CERTIFICATE-----"
            rows={3}
          />
        )}
        <Checkbox
          isSelected={draft.passwordExposable}
          onChange={(passwordExposable) => onChange({ passwordExposable })}
        >
          Allow sending the password in clear text or as MD5 if the server asks for it
        </Checkbox>
      </fieldset>
      <fieldset>
        <legend>SSH tunnel</legend>
        <Checkbox isSelected={draft.hasTunnel} onChange={(hasTunnel) => onChange({ hasTunnel })}>
          Connect through an SSH server, which resolves the database host
        </Checkbox>
        {draft.hasTunnel && <TunnelFields draft={draft} hasSshKey={hasSshKey} onChange={onChange} />}
      </fieldset>
    </>
  );
}

function TunnelFields({ draft, onChange, hasSshKey }: ConnectionFieldsProps & { hasSshKey: boolean }) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <div className="side-by-side host-and-port">
        <TextField {...bind('sshHost', 'ssh')} isRequired label="SSH host" maxLength={255} mono />
        <TextField {...bind('sshPort')} label="SSH port" mono placeholder="22" type="number" />
      </div>
      <TextField
        {...bind('sshUsername')}
        autoComplete="off"
        isRequired
        label="SSH user"
        maxLength={200}
        mono
      />
      <TextField
        {...bind('sshKey')}
        description={
          hasSshKey ? 'Leave empty to keep the stored key.' : 'Must have no passphrase. Stored encrypted.'
        }
        isRequired={!hasSshKey}
        label="SSH private key"
        maxLength={16_384}
        mono
        placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
        rows={3}
      />
    </>
  );
}
