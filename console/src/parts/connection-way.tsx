import './connection-fields.css';
import { fieldError } from '../api.ts';
import { type ConnectionDraft, isSocket } from './connection-draft.ts';
import type { ConnectionFieldsProps } from './connection-fields.tsx';
import { Checkbox, Select, TextField } from './field.tsx';

const TLS = [
  { id: 'verify-full', label: 'Verified', description: 'Encrypted; certificate and name must be right.' },
  { id: 'require', label: 'Encrypted', description: 'Whoever answers is believed.' },
  { id: 'disable', label: 'None', description: 'Whoever is on the way reads along.' },
];

/** How the way there is kept from others: TLS, and an SSH server between. */
export function WayFields({
  draft,
  onChange,
  error,
  hasKey = false,
  hasCertificates = false,
}: ConnectionFieldsProps & { hasKey?: boolean; hasCertificates?: boolean }) {
  if (isSocket(draft)) return null;
  return (
    <>
      <fieldset>
        <legend>Encryption</legend>
        <Select
          choices={TLS}
          error={fieldError(error, 'tls')}
          label="TLS"
          onChange={(tls) => onChange({ tls: tls as ConnectionDraft['tls'] })}
          value={draft.tls}
        />
        {draft.tls === 'verify-full' && (
          <TextField
            description={
              hasCertificates
                ? 'PEM. Empty: those that are trusted now stay.'
                : 'PEM, where no public authority signed it; may stay empty.'
            }
            error={fieldError(error, 'ca_certificate')}
            label="Certificates to trust"
            maxLength={65_536}
            mono
            onChange={(caCertificate) => onChange({ caCertificate })}
            placeholder="-----BEGIN CERTIFICATE-----"
            rows={3}
            value={draft.caCertificate}
          />
        )}
        <Checkbox
          isSelected={draft.passwordExposable}
          onChange={(passwordExposable) => onChange({ passwordExposable })}
        >
          The password may go out in clear text or as MD5, to a server that asks for that
        </Checkbox>
      </fieldset>
      <fieldset>
        <legend>SSH server between</legend>
        <Checkbox isSelected={draft.hasTunnel} onChange={(hasTunnel) => onChange({ hasTunnel })}>
          Go through an SSH server; the host is as seen from there
        </Checkbox>
        {draft.hasTunnel && <TunnelFields draft={draft} error={error} hasKey={hasKey} onChange={onChange} />}
      </fieldset>
    </>
  );
}

function TunnelFields({ draft, onChange, error, hasKey }: ConnectionFieldsProps & { hasKey: boolean }) {
  return (
    <>
      <div className="side-by-side host-and-port">
        <TextField
          error={fieldError(error, 'ssh')}
          isRequired
          label="SSH host"
          maxLength={255}
          mono
          onChange={(sshHost) => onChange({ sshHost })}
          value={draft.sshHost}
        />
        <TextField
          label="SSH port"
          mono
          onChange={(sshPort) => onChange({ sshPort })}
          placeholder="22"
          type="number"
          value={draft.sshPort}
        />
      </div>
      <TextField
        autoComplete="off"
        isRequired
        label="SSH user"
        maxLength={200}
        mono
        onChange={(sshUsername) => onChange({ sshUsername })}
        value={draft.sshUsername}
      />
      <TextField
        description={
          hasKey
            ? 'Leave empty to keep the stored key.'
            : 'One without passphrase, which the SSH server lets in; stored encrypted.'
        }
        isRequired={!hasKey}
        label="Private key"
        maxLength={16_384}
        mono
        onChange={(sshKey) => onChange({ sshKey })}
        placeholder="-----BEGIN OPENSSH PRIVATE KEY-----"
        rows={3}
        value={draft.sshKey}
      />
    </>
  );
}
