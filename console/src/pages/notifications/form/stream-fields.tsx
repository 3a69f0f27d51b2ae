import type { Destination } from '../../../../../src/console-api/notifications/destination-schemas.ts';
import { Checkboxes, Select, TextField } from '../../../parts/field.tsx';
import { bindTo } from '../../../parts/use-draft.ts';
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
export function StreamFields({ draft, onChange, isNew }: DestinationFieldsProps & { isNew: boolean }) {
  const { stream } = draft;
  const set = (changed: Partial<StreamDraft>) => onChange({ stream: { ...stream, ...changed } });
  const bind = bindTo(stream, set);
  const begins = [
    isNew ? { id: 'next', label: 'The next entry' } : { id: 'next', label: 'Where it is' },
    { id: 'first', label: 'The first entry of the log' },
    { id: 'id', label: 'An entry by its id' },
  ];
  return (
    <>
      <Select {...bind('format')} choices={FORMATS} label="Format" />
      <Select
        {...bind('begin')}
        choices={begins}
        description={isNew ? '' : 'Entries from there on are sent again.'}
        label={isNew ? 'Begin with' : 'Go on with'}
      />
      {stream.begin === 'id' && (
        <TextField {...bind('fromId')} isRequired label="Id of the entry" type="number" />
      )}
      <TextField
        {...bind('only', 'action_types')}
        description="One per line, such as member_sign_in_failed. Empty: all."
        label="Only these types"
        mono
        rows={2}
      />
      <TextField
        {...bind('except', 'excluded_types')}
        description="One per line, such as api_request."
        label="Without these types"
        mono
        rows={2}
      />
      <Checkboxes
        choices={ACTORS}
        label="Entries by"
        onChange={(actors) => set({ actors })}
        parameter="actors"
        value={stream.actors}
      />
    </>
  );
}
