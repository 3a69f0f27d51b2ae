import './connection-choice.css';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Checkbox, RadioGroup, TextField } from './field.tsx';
import { foundConnectionsQuery } from './found-connections.ts';
import { bindTo, type FieldsProps } from './use-draft.ts';

/** The connections that a form is about, as they are entered. */
export interface ScopeDraft {
  scope: 'all' | 'names' | 'ids';
  /** A pattern per line. */
  names: string;
  ids: readonly number[];
}

/** The connections of a stored object; both null = all. */
export interface StoredScope {
  ids: number[] | null;
  names: string[] | null;
}

export const ALL_CONNECTIONS: ScopeDraft = { scope: 'all', names: '', ids: [] };

/** The form's values of stored connections. */
export function scopeDraft({ ids, names }: StoredScope): ScopeDraft {
  if (ids !== null) return { scope: 'ids', ids, names: '' };
  return names === null ? ALL_CONNECTIONS : { scope: 'names', ids: [], names: names.join('\n') };
}

/** The connections that a form says. */
export function scopeOf({ scope, ids, names }: ScopeDraft): StoredScope {
  const lines = names.split('\n').flatMap((line) => line.trim() || []);
  return { ids: scope === 'ids' ? [...ids] : null, names: scope === 'names' ? lines : null };
}

/** `all connections`, `prod-* and shop`, `3 connections`. */
export function scopeText({ ids, names }: StoredScope): string {
  const count = ids?.length ?? 0;
  const chosen = count === 0 ? [] : [count === 1 ? 'one chosen connection' : `${count} chosen connections`];
  const parts = [...(names ?? []), ...chosen];
  return parts.length === 0 ? 'all connections' : parts.join(', ');
}

const SCOPES = [
  { id: 'all', label: 'All connections' },
  { id: 'names', label: 'By name or tag', description: 'Includes connections that are added later.' },
  { id: 'ids', label: 'Chosen connections' },
];

/** The most connections to show at once; a search finds the others. */
const SHOWN = 50;

/** The service names the whole choice, or its ids or names. */
const PARAMETERS = ['connections', 'connection_ids', 'connection_names'];

/** Fields that choose all connections, some by name, or some of a list. */
export function ConnectionChoice(props: FieldsProps<ScopeDraft>) {
  const { draft, onChange } = props;
  const bind = bindTo(draft, onChange);
  return (
    <>
      <RadioGroup {...bind('scope', [])} choices={SCOPES} label="Connections" />
      {draft.scope === 'names' && (
        <TextField
          {...bind('names', PARAMETERS)}
          description="One per line: a name, in which * is any text (prod-*), or a tag (tag:env:production)."
          isRequired
          label="Names or tags"
          mono
          placeholder="prod-*"
          rows={2}
        />
      )}
      {draft.scope === 'ids' && <ChosenConnections {...props} />}
    </>
  );
}

/** Chooses connections of a list, by a search. */
export function ChosenConnections({ draft: { ids }, onChange }: FieldsProps<Pick<ScopeDraft, 'ids'>>) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useQuery(foundConnectionsQuery(q, SHOWN));
  const found = data?.data ?? [];
  const toggle = (id: number, isChosen: boolean) =>
    onChange({ ids: isChosen ? [...ids, id] : ids.filter((chosen) => chosen !== id) });
  return (
    <fieldset className="connection-choice">
      <legend className="hidden-text">Chosen connections</legend>
      <TextField
        description={`${ids.length} chosen`}
        parameter={PARAMETERS}
        label="Find a connection"
        onChange={setText}
        value={text}
      />
      <div className="connection-choice-list">
        {found.map(({ id, name, host }) => (
          <Checkbox isSelected={ids.includes(id)} key={id} onChange={(isChosen) => toggle(id, isChosen)}>
            <bdi>{name}</bdi> <bdi className="quiet small">{host}</bdi>
          </Checkbox>
        ))}
        {data && found.length === 0 && <p className="quiet">No connection matches.</p>}
      </div>
    </fieldset>
  );
}
