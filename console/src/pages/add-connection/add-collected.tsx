import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type {
  AddedCollected,
  NewCollected,
} from '../../../../src/console-api/collectors/collector-routes.ts';
import { ENGINE_NAMES, SQL_ENGINES, type SqlEngine } from '../../../../src/vocabulary/engines.ts';
import { send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { IntervalFields } from '../../parts/connection-fields.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { RadioGroup, Select, TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { fileLines } from '../../parts/start-command.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { tagsIn } from '../../parts/tags.tsx';
import { TagsField } from '../../parts/tags-field.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { collectorsQuery } from '../../shell/collectors-query.ts';
import { TextsQuestion } from './texts-question.tsx';

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
        return <CollectedForm first={first} names={names} />;
      }}
    </Loaded>
  );
}

function CollectedForm({ names, first }: { names: readonly string[]; first: string }) {
  const navigate = useNavigate();
  const { interval, pulse } = emptyDraft;
  const { draft, change, bind } = useDraft({
    name: '',
    collector: first,
    engine: 'postgres' as SqlEngine,
    interval,
    pulse,
    tags: '',
    storesTexts: false,
  });
  const name = draft.name.trim();
  const save = useAction({
    request: () =>
      send<AddedCollected>('POST', '/collectors/connections', {
        name,
        collector: draft.collector,
        engine: draft.engine,
        interval_seconds: Number(draft.interval),
        pulse_seconds: Number(draft.pulse),
        tags: tagsIn(draft.tags),
        query_texts: draft.storesTexts,
      } satisfies NewCollected),
    renews: ['fleet', 'collectors', 'tags'],
    done: 'Connection added. The collector checks it next.',
    onDone: ({ id }) => navigate({ to: '/connections/$id', params: { id: String(id) } }),
  });
  return (
    <Form className="connection-fields" error={save.error} onSubmit={() => save.mutate()}>
      <TextField
        {...bind('name')}
        description="The name that your team uses. The collector’s file has the same."
        isRequired
        label="Name"
        maxLength={200}
      />
      <Select {...bind('collector')} choices={names.map((id) => ({ id, label: id }))} label="Collector" />
      <RadioGroup {...bind('engine')} choices={ENGINES} label="Engine" />
      <div className="side-by-side">
        <IntervalFields draft={draft} onChange={change} />
      </div>
      <TextsQuestion isOn={draft.storesTexts} onChange={(storesTexts) => change({ storesTexts })} />
      <TagsField onChange={(tags) => change({ tags })} text={draft.tags} />
      <section aria-label="Lines for the collector’s file">
        <p>
          Write this into the file of the collector. The address and the password stay there: this service
          never gets them.
        </p>
        <CodeBlock text={fileLines(name || 'NAME', draft.engine, draft.storesTexts)} what="lines" />
      </section>
      <div className="page-actions">
        <Button icon="plus" isPending={save.isPending} kind="primary" type="submit">
          Add connection
        </Button>
      </div>
    </Form>
  );
}
