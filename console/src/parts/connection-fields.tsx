import {
  ENGINE_NAMES,
  ENGINES,
  type EngineFamily,
  familyOf,
  isSqlEngine,
  traitsOf,
} from '../../../src/vocabulary/engines.ts';
import './connection-fields.css';
import { fieldError } from '../api.ts';
import { type ConnectionDraft, isSocket, usualPort } from './connection-draft.ts';
import { Select, TextField } from './field.tsx';
import { duration } from './time.tsx';

const DATABASE_HELP: Readonly<Record<EngineFamily, string>> = {
  postgres: 'The database to log in to. The server’s other databases are checked too.',
  mysql: 'Optional: one login sees all databases.',
  pgbouncer: 'The admin console: leave it as it is.',
};

const CHOICES = ENGINES.map((id) => ({ id, label: ENGINE_NAMES[id] }));

/** Seconds. */
const INTERVALS = ['30', '60', '300', '900', '3600', '21600', '86400'];
/** Seconds; 0 = none. */
const BACKUPS = ['0', '7200', '28800', '93600', '180000', '691200'];
/** Seconds; 0 = never. */
const PULSES = ['1', '5', '10', '30', '60', '0'];

export interface ConnectionFieldsProps {
  draft: ConnectionDraft;
  /** Called with the fields that the user changed. */
  onChange: (changed: Partial<ConnectionDraft>) => void;
  /** The error of the last attempt. An error about one field is shown at that field. */
  error: unknown;
}

/** The fields for engine, host, port and database. */
export function DatabaseFields({
  draft,
  onChange,
  error,
  isEngineFixed = false,
}: ConnectionFieldsProps & { isEngineFixed?: boolean }) {
  return (
    <fieldset>
      <legend>Database</legend>
      <Select
        choices={CHOICES}
        error={fieldError(error, 'engine')}
        isDisabled={isEngineFixed}
        label="Engine"
        onChange={(engine) => onChange({ engine: engine as ConnectionDraft['engine'] })}
        value={draft.engine}
      />
      <div className="side-by-side host-and-port">
        <TextField
          description="Host name or IP address. For several hosts: one:5432,two:5432."
          error={fieldError(error, 'host') ?? fieldError(error, 'address')}
          isRequired
          label="Host"
          maxLength={1_000}
          mono
          onChange={(host) => onChange({ host })}
          value={draft.host}
        />
        <TextField
          isDisabled={isSocket(draft) && familyOf(draft.engine) === 'mysql'}
          label="Port"
          mono
          onChange={(port) => onChange({ port })}
          placeholder={usualPort(draft)}
          type="number"
          value={draft.port}
        />
      </div>
      <TextField
        description={DATABASE_HELP[familyOf(draft.engine)]}
        label="Database"
        maxLength={200}
        mono
        onChange={(database) => onChange({ database })}
        placeholder={traitsOf(draft.engine).database}
        value={draft.database}
      />
    </fieldset>
  );
}

/**
 * The fields for user and password. With `hasPassword`, an empty field keeps the stored password, unless a change
 * requires it again.
 */
export function LoginFields({
  draft,
  onChange,
  error,
  hasPassword = false,
  isPasswordNeeded = false,
}: ConnectionFieldsProps & { hasPassword?: boolean; isPasswordNeeded?: boolean }) {
  return (
    <fieldset>
      <legend>Login</legend>
      <div className="side-by-side">
        <TextField
          autoComplete="off"
          isRequired
          label="User"
          maxLength={200}
          mono
          onChange={(username) => onChange({ username })}
          value={draft.username}
        />
        <TextField
          autoComplete="new-password"
          description={passwordHelp(hasPassword, isPasswordNeeded)}
          error={fieldError(error, 'password')}
          isRequired={isPasswordNeeded}
          label="Password"
          maxLength={1_000}
          onChange={(password) => onChange({ password })}
          type="password"
          value={draft.password}
        />
      </div>
    </fieldset>
  );
}

function passwordHelp(hasPassword: boolean, isNeeded: boolean): string {
  if (isNeeded) return 'Enter the password again: you changed where or how it is sent.';
  return hasPassword ? 'Leave empty to keep the stored password.' : 'Stored encrypted and never shown again.';
}

/** The fields for the check interval and the expected standbys. */
export function CheckFields({ draft, onChange, error }: ConnectionFieldsProps) {
  const backups = BACKUPS.includes(draft.backupExpected) ? BACKUPS : [draft.backupExpected, ...BACKUPS];
  return (
    <fieldset>
      <legend>Checks</legend>
      <div className="side-by-side">
        {draft.interval !== '' && <IntervalFields draft={draft} error={error} onChange={onChange} />}
        {isSqlEngine(draft.engine) && (
          <Select
            choices={backups.map((seconds) => ({
              id: seconds,
              label: seconds === '0' ? 'None' : `Within ${duration(Number(seconds))}`,
            }))}
            description="You get a finding when no backup succeeded for so long."
            error={fieldError(error, 'backup_expected_seconds')}
            label="Expected backup"
            onChange={(backupExpected) => onChange({ backupExpected })}
            value={draft.backupExpected}
          />
        )}
        {traitsOf(draft.engine).hasStandbys && (
          <TextField
            description="You get a finding when fewer are connected."
            error={fieldError(error, 'expected_standbys')}
            label="Expected standbys"
            onChange={(expectedStandbys) => onChange({ expectedStandbys })}
            type="number"
            value={draft.expectedStandbys}
          />
        )}
      </div>
    </fieldset>
  );
}

interface IntervalFieldsProps extends Pick<ConnectionFieldsProps, 'error'> {
  draft: Pick<ConnectionDraft, 'interval' | 'pulse'>;
  onChange: (changed: Partial<IntervalFieldsProps['draft']>) => void;
}

/** The fields for the intervals of checks and pulses. */
export function IntervalFields({ draft, onChange, error }: IntervalFieldsProps) {
  const pulses = PULSES.includes(draft.pulse) ? PULSES : [draft.pulse, ...PULSES];
  const intervals = INTERVALS.includes(draft.interval) ? INTERVALS : [draft.interval, ...INTERVALS];
  return (
    <>
      <Select
        choices={intervals.map((seconds) => ({ id: seconds, label: duration(Number(seconds)) }))}
        error={fieldError(error, 'interval_seconds')}
        label="Check every"
        onChange={(interval) => onChange({ interval })}
        value={draft.interval}
      />
      <Select
        choices={pulses.map((seconds) => ({
          id: seconds,
          label: seconds === '0' ? 'Never' : duration(Number(seconds)),
        }))}
        description="It finds blocked sessions and a server that does not answer, between two checks."
        error={fieldError(error, 'pulse_seconds')}
        label="Pulse every"
        onChange={(pulse) => onChange({ pulse })}
        value={draft.pulse}
      />
    </>
  );
}

/** The parameters whose errors {@link DatabaseFields} and {@link LoginFields} show. */
export const ADDRESS_FIELDS = ['engine', 'host', 'address', 'password'];

/** The parameters whose errors the security fields and {@link CheckFields} show. */
export const OTHER_FIELDS = [
  'tls',
  'ca_certificate',
  'ssh',
  'interval_seconds',
  'pulse_seconds',
  'expected_standbys',
  'backup_expected_seconds',
];
