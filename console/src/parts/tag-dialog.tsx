import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../api.ts';
import { notify } from './announcer.tsx';
import { FormDialog } from './dialog.tsx';
import { Checkboxes, TextField } from './field.tsx';
import { counted } from './figure.ts';
import { TAGS_HELP, tagsIn } from './tags.tsx';
import { offerUndo } from './undo.ts';

/** Connections of one request. */
const MOST = 1_000;

/** Tags to remove that are offered. */
const OFFERED = 100;

interface TagDialogProps {
  connections: readonly { id: number; tags: readonly string[] }[];
  onClose: () => void;
  onSaved: () => Promise<unknown>;
}

/** Adds tags to connections, and removes tags that some of them have. */
export function TagDialog({ connections, onClose, onSaved }: TagDialogProps) {
  const [text, setText] = useState('');
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const add = tagsIn(text);
  const of = connections.length === 1 ? 'this connection' : counted(connections.length, 'connection');
  const change = useMutation({
    async mutationFn() {
      const undone: TagChange[] = [];
      for (let first = 0; first < connections.length; first += MOST) {
        const ids = connections.slice(first, first + MOST).map(({ id }) => id);
        const change = { connections: ids, add, remove: removed };
        undone.push(...reversed((await send<{ data: Tagged[] }>('POST', '/connections/tags', change)).data));
      }
      return undone;
    },
    // Of several requests, the first ones may have changed something.
    onError: () => void onSaved(),
    async onSuccess(undone) {
      await onSaved();
      if (undone.length === 0) notify('Tags changed');
      else
        offerUndo('Tags changed', async () => {
          let left = 0;
          for (const change of undone) {
            const { data } = await send<{ data: Tagged[] }>('POST', '/connections/tags', {
              ...change,
              undo: true,
            });
            left += change.connections.length - data.length;
          }
          await onSaved();
          if (left === 0) return 'Tags restored';
          return `Tags restored, except on ${counted(left, 'connection')} that somebody has changed since`;
        });
      onClose();
    },
  });
  const present = presentTags(connections);
  const isEmpty = add.length + removed.length === 0;
  return (
    <FormDialog
      action="Change tags"
      isChanged={!isEmpty}
      isDisabled={isEmpty}
      onClose={onClose}
      title={`Change tags of ${of}`}
      work={change}
    >
      <TextField
        autoFocus
        description={`${TAGS_HELP}; a new one replaces the old one.`}
        parameter="tags"
        label="Add tags"
        mono
        onChange={setText}
        placeholder="env:production"
        value={text}
      />
      {present.length > 0 && (
        <Checkboxes
          choices={present.slice(0, OFFERED).map(({ tag, count }) => ({
            id: tag,
            label: (
              <>
                <bdi>{tag}</bdi>
                {connections.length > 1 && (
                  <span className="quiet small"> on {count.toLocaleString('en')}</span>
                )}
              </>
            ),
          }))}
          className="tag-choices"
          label="Remove tags"
          onChange={setRemoved}
          value={removed}
        />
      )}
    </FormDialog>
  );
}

/** A connection, and what a change added to its tags and removed from them. */
interface Tagged {
  id: number;
  added: readonly string[];
  removed: readonly string[];
}

interface TagChange {
  connections: readonly number[];
  add: readonly string[];
  remove: readonly string[];
}

/** The changes that undo a change of tags: one for all connections of which it changed the same. */
function reversed(tagged: readonly Tagged[]): TagChange[] {
  const changed = tagged.filter(({ added, removed }) => added.length + removed.length > 0);
  const groups = Map.groupBy(changed, ({ added, removed }) => JSON.stringify([added, removed]));
  return [...groups.values()].map((group) => ({
    connections: group.map(({ id }) => id),
    add: group[0]?.removed ?? [],
    remove: group[0]?.added ?? [],
  }));
}

/** The tags of connections, and how many have each, most first. */
function presentTags(connections: TagDialogProps['connections']): { tag: string; count: number }[] {
  const all = Map.groupBy(
    connections.flatMap(({ tags }) => tags),
    (tag) => tag,
  );
  return [...all].map(([tag, same]) => ({ tag, count: same.length })).sort((a, b) => b.count - a.count);
}
