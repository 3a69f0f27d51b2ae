import type { ReactNode } from 'react';
import type { ConnectionSettings } from '../../../../src/console-api/connections/connection-schemas.ts';
import { ENGINE_NAMES, traitsOf } from '../../../../src/vocabulary/engines.ts';
import { isShippedAuthority } from '../../../../src/vocabulary/hosted/authorities.ts';
import { PROVIDER_NAMES } from '../../../../src/vocabulary/hosted/providers.ts';
import type { TlsMode } from '../../../../src/vocabulary/tls-modes.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { duration, Time } from '../../parts/time.tsx';

const TLS: Readonly<Record<TlsMode, string>> = {
  'verify-full': 'Encrypted, certificate and name verified',
  'verify-ca': 'Encrypted, certificate verified, name not verified',
  require: 'Encrypted, certificate not verified',
  disable: 'Not encrypted',
};

function name(text: string): ReactNode {
  return text === '' ? <span className="quiet">none</span> : <bdi className="mono">{text}</bdi>;
}

function passwordText({ has_password, token_source }: ConnectionSettings): ReactNode {
  if (token_source !== null) return <>a token from {name(token_source)}, set by the operator</>;
  return has_password ? 'stored, encrypted' : 'none';
}

/** The connection's settings, without passwords and keys. */
export function Settings({ settings, actions }: { settings: ConnectionSettings; actions: ReactNode }) {
  const { engine, connection_type, host, port, database, username, tls, ssh, thresholds } = settings;
  const isSocket = connection_type === 'unix_socket';
  const facts: [string, ReactNode][] = [
    ['Engine', ENGINE_NAMES[engine]],
    ['Hosted by', settings.provider === null ? 'no known provider' : PROVIDER_NAMES[settings.provider]],
    [isSocket ? 'Socket' : 'Host', name(isSocket || host.includes(',') ? host : `${host}:${port}`)],
    ['Database', database === '' ? 'all that the login can see' : name(database)],
    ['Login', name(username)],
    ['Password', passwordText(settings)],
    ['TLS', isSocket ? 'None (Unix socket)' : TLS[tls]],
  ];
  if (settings.password_exposable) facts.push(['Clear-text or MD5 password', 'Allowed']);
  if (settings.ca_fingerprints.length > 0)
    facts.push([
      isShippedAuthority(settings.ca_fingerprints[0] ?? '')
        ? 'Trusted certificates'
        : 'Trusted certificates (SHA-256)',
      settings.ca_fingerprints.map((fingerprint) => (
        <span className="mono fingerprint" key={fingerprint}>
          {fingerprint}
        </span>
      )),
    ]);
  if (ssh) {
    facts.push(['SSH tunnel', name(`${ssh.username}@${ssh.host}:${ssh.port}`)]);
    facts.push(['SSH private key', ssh.has_key ? 'stored, encrypted' : 'from the service’s SSH agent']);
    facts.push(['SSH host key', ssh.host_key === null ? 'not seen yet' : name(ssh.host_key)]);
  }
  if (traitsOf(engine).hasStandbys) facts.push(['Expected standbys', settings.expected_standbys]);
  facts.push(['Query texts', settings.query_texts ? 'Stored for 14 days' : 'Not stored']);
  facts.push([
    'Checked every',
    settings.interval_seconds === null ? 'never: sample data' : duration(settings.interval_seconds),
  ]);
  facts.push(['Pulse every', settings.pulse_seconds === 0 ? 'none' : duration(settings.pulse_seconds)]);
  const expected = settings.backup_expected_seconds;
  facts.push(['Expected backup', expected === 0 ? 'none' : `within ${duration(expected)}`]);
  for (const [check, numbers] of Object.entries(thresholds)) {
    const words = Object.entries(numbers).map(([threshold, value]) => `${threshold} ${value}`);
    facts.push([`Thresholds of ${check}`, words.join(', ')]);
  }
  facts.push(['Added', <Time as="local" at={settings.created_at} key="added" />]);
  return (
    <Section actions={actions} title="Settings">
      <div className="settings-facts">
        <Facts facts={facts} />
      </div>
    </Section>
  );
}
