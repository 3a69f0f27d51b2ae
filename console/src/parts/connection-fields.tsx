import {
  ENGINE_NAMES,
  ENGINES,
  type EngineFamily,
  familyOf,
  isSqlEngine,
  traitsOf,
} from '../../../src/vocabulary/engines.ts';
import './connection-fields.css';
import { type ConnectionDraft, isSocket, usualPort } from './connection-draft.ts';
import { Select, TextField } from './field.tsx';
import { duration } from './time.tsx';
import { bindTo, type FieldsProps } from './use-draft.ts';

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

export type ConnectionFieldsProps = FieldsProps<ConnectionDraft>;

/** The fields for engine, host, port and database. */
export function DatabaseFields({
  draft,
  onChange,
  isEngineFixed = false,
}: ConnectionFieldsProps & { isEngineFixed?: boolean }) {
  const bind = bindTo(draft, onChange);
  return (
    <fieldset>
      <legend>Database</legend>
      <Select {...bind('engine')} choices={CHOICES} isDisabled={isEngineFixed} label="Engine" />
      <div className="side-by-side host-and-port">
        <TextField
          {...bind('host')}
          description="Host name or IP address. For several hosts: one:5432,two:5432."
          parameter={['host', 'address']}
          isRequired
          label="Host"
          maxLength={1_000}
          mono
        />
        <TextField
          {...bind('port')}
          isDisabled={isSocket(draft) && familyOf(draft.engine) === 'mysql'}
          label="Port"
          mono
          placeholder={usualPort(draft)}
          type="number"
        />
      </div>
      <TextField
        {...bind('database')}
        description={DATABASE_HELP[familyOf(draft.engine)]}
        label="Database"
        maxLength={200}
        mono
        placeholder={traitsOf(draft.engine).database}
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
  hasPassword = false,
  isPasswordNeeded = false,
}: ConnectionFieldsProps & { hasPassword?: boolean; isPasswordNeeded?: boolean }) {
  const bind = bindTo(draft, onChange);
  return (
    <fieldset>
      <legend>Login</legend>
      <div className="side-by-side">
        <TextField {...bind('username')} autoComplete="off" isRequired label="User" maxLength={200} mono />
        <TextField
          {...bind('password')}
          autoComplete="new-password"
          description={passwordHelp(hasPassword, isPasswordNeeded)}
          isRequired={isPasswordNeeded}
          label="Password"
          maxLength={1_000}
          type="password"
        />
      </div>
    </fieldset>
  );
}

function passwordHelp(hasPassword: boolean, isNeeded: boolean): string {
  if (isNeeded) return 'Enter the password again: you changed where or how it is sent.';
  return hasPassword ? 'Leave empty to keep the stored password.' : 'Stored encrypted and never shown again.';
}

/** Durations in seconds as choices, with the one that is set; `none` says 0. */
function toChoices(usual: readonly string[], set: string, none = '', before = '') {
  const all = usual.includes(set) ? usual : [set, ...usual];
  return all.map((id) => ({ id, label: id === '0' ? none : before + duration(Number(id)) }));
}

/** The fields for the check interval and the expected standbys. */
export function CheckFields({ draft, onChange }: ConnectionFieldsProps) {
  const bind = bindTo(draft, onChange);
  return (
    <fieldset>
      <legend>Checks</legend>
      <div className="side-by-side">
        {draft.interval !== '' && <IntervalFields draft={draft} onChange={onChange} />}
        {isSqlEngine(draft.engine) && (
          <Select
            {...bind('backupExpected', 'backup_expected_seconds')}
            choices={toChoices(BACKUPS, draft.backupExpected, 'None', 'Within ')}
            description="You get a finding when no backup succeeded for so long."
            label="Expected backup"
          />
        )}
        {traitsOf(draft.engine).hasStandbys && (
          <TextField
            {...bind('expectedStandbys')}
            description="You get a finding when fewer are connected."
            label="Expected standbys"
            type="number"
          />
        )}
      </div>
    </fieldset>
  );
}

type IntervalFieldsProps = FieldsProps<Pick<ConnectionDraft, 'interval' | 'pulse'>>;

/** The fields for the intervals of checks and pulses. */
export function IntervalFields({ draft, onChange }: IntervalFieldsProps) {
  const bind = bindTo(draft, onChange);
  return (
    <>
      <Select
        {...bind('interval', 'interval_seconds')}
        choices={toChoices(INTERVALS, draft.interval)}
        label="Check every"
      />
      <Select
        {...bind('pulse', 'pulse_seconds')}
        choices={toChoices(PULSES, draft.pulse, 'Never')}
        description="It finds blocked sessions and a server that does not answer, between two checks."
        label="Pulse every"
      />
    </>
  );
}
