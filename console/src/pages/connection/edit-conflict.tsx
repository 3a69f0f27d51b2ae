import type { ConnectionDraft } from '../../parts/connection-draft.ts';
import { changedFields } from './settings-draft.ts';

/** Two people changed a connection: the original, the other person's values and the form's values. */
export interface Conflict {
  /** Who changed it, and when. */
  message: string;
  before: ConnectionDraft;
  theirs: ConnectionDraft;
  mine: ConnectionDraft;
}

const WORDS: Record<keyof ConnectionDraft, string> = {
  name: 'Name',
  engine: 'Engine',
  host: 'Host',
  port: 'Port',
  database: 'Database',
  username: 'User',
  password: 'Password',
  tls: 'TLS',
  passwordExposable: 'Clear-text or MD5 password',
  caCertificate: 'Trusted certificates',
  hasTunnel: 'SSH tunnel',
  sshUsername: 'SSH user',
  sshHost: 'SSH host',
  sshPort: 'SSH port',
  sshKey: 'SSH private key',
  interval: 'Check interval in seconds',
  pulse: 'Pulse in seconds',
  backupExpected: 'Expected backup in seconds',
  expectedStandbys: 'Expected standbys',
};

/** Says that nothing was saved, what the other person changed, and where the form differs. */
export function EditConflict({ clash: { message, before, theirs, mine } }: { clash: Conflict }) {
  const own = changedFields(before, mine);
  const fields = changedFields(before, theirs);
  return (
    <div className="overtaken" role="alert" tabIndex={-1}>
      <p>
        <strong>Nothing was saved.</strong> <bdi>{message}</bdi>
      </p>
      {fields.length > 0 && (
        <ul>
          {fields.map((field) => (
            <li key={field}>
              {WORDS[field]}: changed from <bdi>{String(before[field])}</bdi> to{' '}
              <bdi>{String(theirs[field])}</bdi>
              {own.includes(field) && (
                <>
                  . <strong>Your value:</strong> <bdi>{String(mine[field])}</bdi>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <p>The form now shows the current settings with your changes. Save again to keep your changes.</p>
    </div>
  );
}
