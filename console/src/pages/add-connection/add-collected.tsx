import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type {
  AddedCollected,
  NewCollected,
} from '../../../../src/console-api/collectors/collector-routes.ts';
import { ENGINE_NAMES, SQL_ENGINES, type SqlEngine } from '../../../../src/vocabulary/engines.ts';
import { fieldError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { type ConnectionDraft, emptyDraft } from '../../parts/connection-draft.ts';
import { IntervalFields } from '../../parts/connection-fields.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { RadioGroup, Select, TextField } from '../../parts/field.tsx';
import { fileLines } from '../../parts/start-command.ts';
import { FormError, Loaded, Message } from '../../parts/states.tsx';
import { tagsQuery } from '../../parts/tag-filter.tsx';
import { tagsIn } from '../../parts/tags.tsx';
import { TagsField } from '../../parts/tags-field.tsx';
import { collectorsQuery } from '../../shell/collectors-query.ts';

const ENGINES = SQL_ENGINES.map((id) => ({ id, label: ENGINE_NAMES[id] }));

/** The form for a connection that a collector measures: the lines for its file in place of an address and a password. */
export function AddCollected() {
  const collectors = useQuery(collectorsQuery);
  return (
    <Loaded query={collectors}>
      {({ data }) => {
        const names = data.filter(({ state }) => state !== 'revoked').map(({ name }) => name);
        const [first] = names;
        if (first === undefined)
          return (
            <Message icon="device" title="No collectors yet">
              Enrol one on the page <Link to="/collectors">Collectors</Link>, then add the connection.
            </Message>
          );
        return <Form first={first} names={names} />;
      }}
    </Loaded>
  );
}

function Form({ names, first }: { names: readonly string[]; first: string }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [collector, setCollector] = useState(first);
  const [engine, setEngine] = useState<SqlEngine>('postgres');
  const [{ interval, pulse }, setIntervals] =
    useState<Pick<ConnectionDraft, 'interval' | 'pulse'>>(emptyDraft);
  const [tags, setTags] = useState('');
  const save = useMutation({
    mutationFn: (body: NewCollected) => send<AddedCollected>('POST', '/collectors/connections', body),
    onSuccess({ id }) {
      void queries.invalidateQueries({ queryKey: ['fleet'] });
      void queries.invalidateQueries({ queryKey: ['collectors'] });
      void queries.invalidateQueries(tagsQuery);
      notify('Connection added. The collector checks it next.');
      void navigate({ to: '/connections/$id', params: { id: String(id) } });
    },
  });
  const { error } = save;
  return (
    <form
      className="connection-fields"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({
          name: name.trim(),
          collector,
          engine,
          interval_seconds: Number(interval),
          pulse_seconds: Number(pulse),
          tags: tagsIn(tags),
        });
      }}
    >
      <TextField
        description="The name that your team uses. The collector’s file has the same."
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <Select
        choices={names.map((one) => ({ id: one, label: one }))}
        error={fieldError(error, 'collector')}
        label="Collector"
        onChange={setCollector}
        value={collector}
      />
      <RadioGroup
        choices={ENGINES}
        label="Engine"
        onChange={(id) => setEngine(id as SqlEngine)}
        value={engine}
      />
      <div className="side-by-side">
        <IntervalFields
          draft={{ interval, pulse }}
          error={error}
          onChange={(changed) => setIntervals((old) => ({ ...old, ...changed }))}
        />
      </div>
      <TagsField error={error} onChange={setTags} text={tags} />
      <section aria-label="Lines for the collector’s file">
        <p>
          Write this into the file of the collector. The address and the password stay there: this service
          never gets them.
        </p>
        <CodeBlock text={fileLines(name.trim() || 'NAME', engine)} what="lines" />
      </section>
      <div className="add-actions">
        <Button icon="plus" isPending={save.isPending} kind="primary" type="submit">
          Add connection
        </Button>
      </div>
      <FormError error={error} fields={['name', 'collector', 'interval_seconds', 'pulse_seconds', 'tags']} />
    </form>
  );
}
