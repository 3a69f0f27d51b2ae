import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type {
  AddedCollected,
  NewCollected,
} from '../../../../src/console-api/collectors/collector-routes.ts';
import type { SqlEngine } from '../../../../src/vocabulary/engines.ts';
import { fieldError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { RadioGroup, Select, TextField } from '../../parts/field.tsx';
import { fileLines } from '../../parts/start-command.ts';
import { FormError, Loaded, Message } from '../../parts/states.tsx';
import { tagsQuery } from '../../parts/tag-filter.tsx';
import { TAGS_HELP, tagsIn } from '../../parts/tags.tsx';
import { duration } from '../../parts/time.tsx';
import { collectorsQuery } from '../../shell/collectors-query.ts';

const INTERVALS = ['60', '300', '900', '3600', '86400'];
const PULSES = ['1', '5', '10', '30', '60', '0'];

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
  const [interval, setInterval] = useState('300');
  const [pulse, setPulse] = useState('10');
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
        choices={[
          { id: 'postgres', label: 'PostgreSQL' },
          { id: 'mysql', label: 'MySQL' },
          { id: 'mariadb', label: 'MariaDB' },
        ]}
        label="Engine"
        onChange={(id) => setEngine(id as SqlEngine)}
        value={engine}
      />
      <div className="side-by-side">
        <Select
          choices={INTERVALS.map((id) => ({ id, label: duration(Number(id)) }))}
          label="Check every"
          onChange={setInterval}
          value={interval}
        />
        <Select
          choices={PULSES.map((id) => ({ id, label: id === '0' ? 'Never' : duration(Number(id)) }))}
          label="Pulse every"
          onChange={setPulse}
          value={pulse}
        />
      </div>
      <TextField
        description={`${TAGS_HELP}.`}
        error={fieldError(error, 'tags')}
        label="Tags"
        maxLength={2_000}
        mono
        onChange={setTags}
        placeholder="env:production"
        value={tags}
      />
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
      <FormError error={error} fields={['name', 'collector', 'tags']} />
    </form>
  );
}
