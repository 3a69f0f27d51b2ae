import type { Destination } from '../../../../../src/console-api/notifications/destination-schemas.ts';
import { fieldError } from '../../../api.ts';
import { Checkbox, Select, TextField } from '../../../parts/field.tsx';
import type { StreamDraft } from './destination-draft.ts';
import type { DestinationFieldsProps } from './destination-form.tsx';

const FORMATS: readonly { id: NonNullable<Destination['stream']>['format']; label: string }[] = [
  { id: 'native', label: 'As the API shows entries' },
  { id: 'ocsf', label: 'OCSF' },
  { id: 'ecs', label: 'ECS (Elastic Common Schema)' },
  { id: 'sealed', label: 'Sealed: what seals prove' },
];

const ACTORS = [
  { id: 'member', label: 'Members' },
  { id: 'api_key', label: 'API keys' },
  { id: 'command_line', label: 'The command line' },
  { id: 'service', label: 'The service' },
  { id: 'unknown', label: 'Unknown persons' },
];

/** What a log stream sends, and from which entry on. */
export function StreamFields({ draft, onChange, error, isNew }: DestinationFieldsProps & { isNew: boolean }) {
  const { stream } = draft;
  const set = (changed: Partial<StreamDraft>) => onChange({ stream: { ...stream, ...changed } });
  const begins = [
    isNew ? { id: 'next', label: 'The next entry' } : { id: 'next', label: 'Where it is' },
    { id: 'first', label: 'The first entry of the log' },
    { id: 'id', label: 'An entry by its id' },
  ];
  return (
    <>
      <Select
        choices={FORMATS}
        label="Format"
        onChange={(format) => set({ format: format as StreamDraft['format'] })}
        value={stream.format}
      />
      <Select
        choices={begins}
        description={isNew ? '' : 'Entries from there on are sent again.'}
        label={isNew ? 'Begin with' : 'Go on with'}
        onChange={(begin) => set({ begin: begin as StreamDraft['begin'] })}
        value={stream.begin}
      />
      {stream.begin === 'id' && (
        <TextField
          error={fieldError(error, 'from_id')}
          isRequired
          label="Id of the entry"
          onChange={(fromId) => set({ fromId })}
          type="number"
          value={stream.fromId}
        />
      )}
      <TextField
        description="One per line, such as member_sign_in_failed. Empty: all."
        error={fieldError(error, 'action_types')}
        label="Only these types"
        mono
        onChange={(only) => set({ only })}
        rows={2}
        value={stream.only}
      />
      <TextField
        description="One per line, such as api_request."
        label="Without these types"
        mono
        onChange={(except) => set({ except })}
        rows={2}
        value={stream.except}
      />
      <fieldset className="field-group">
        <legend>Entries by</legend>
        {ACTORS.map(({ id, label }) => (
          <Checkbox
            isSelected={stream.actors.includes(id)}
            key={id}
            onChange={(isSent) =>
              set({ actors: isSent ? [...stream.actors, id] : stream.actors.filter((other) => other !== id) })
            }
          >
            {label}
          </Checkbox>
        ))}
        {fieldError(error, 'actors') && (
          <p className="field-error" role="alert" tabIndex={-1}>
            {fieldError(error, 'actors')}
          </p>
        )}
      </fieldset>
    </>
  );
}
