import './add-connection.css';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type {
  ConnectionSettings,
  TestedConnection,
} from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionTest } from '../../../../src/console-api/connections/test-connection.ts';
import { type Engine, isSqlEngine } from '../../../../src/vocabulary/engines.ts';
import { send } from '../../api.ts';
import { announce } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { CheckFields, DatabaseFields, LoginFields } from '../../parts/connection-fields.tsx';
import { SecurityFields } from '../../parts/connection-security.tsx';
import { RadioGroup, TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TagsField } from '../../parts/tags-field.tsx';
import { TestResult } from '../../parts/test-result.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { useMedia } from '../../parts/use-media.ts';
import { AddCollected } from './add-collected.tsx';
import { MonitoringRoleSql } from './monitoring-role-sql.tsx';
import { leadsToSocket, loginOf, newOf, testedOf } from './new-connection.ts';
import { TextsQuestion } from './texts-question.tsx';

/** Wide enough for the form and the SQL side by side; the same width as in add-connection.css. */
const BESIDE = '(width >= 75rem)';

export function AddConnectionPage() {
  const [by, setBy] = useState('service');
  const form = by === 'service' ? <AddConnection /> : <AddCollected />;
  return (
    <Page
      back={<Link to="/fleet">← Fleet</Link>}
      description={
        by === 'service'
          ? 'A PostgreSQL, MySQL, MariaDB or PgBouncer server. The connection is tested before it is saved.'
          : 'A PostgreSQL, MySQL or MariaDB server that a collector reaches.'
      }
      title="Add connection"
    >
      <div className="measured-by">
        <RadioGroup
          choices={[
            { id: 'service', label: 'The service' },
            { id: 'collector', label: 'A collector' },
          ]}
          label="Measured by"
          onChange={setBy}
          value={by}
        />
        {form}
      </div>
    </Page>
  );
}

/** The form: address as URL or fields, a test with its result, then save. */
function AddConnection() {
  const navigate = useNavigate();
  const [way, setWay] = useState('url');
  const [url, setUrl] = useState('');
  const { draft, change: onChange, bind } = useDraft(emptyDraft);
  const [tags, setTags] = useState('');
  const [storesTexts, setStoresTexts] = useState(false);
  const given = { url: way === 'url' ? url : null, draft, tags, storesTexts };
  const tested = testedOf(given);

  const test = useMutation({
    mutationFn: (body: TestedConnection) => send<ConnectionTest>('POST', '/connections/test', body),
    onSuccess: ({ reachable }) =>
      announce(reachable ? 'Connected to the database' : 'Could not connect to the database'),
  });
  const save = useAction({
    request: () => send<ConnectionSettings>('POST', '/connections', newOf(given)),
    renews: ['fleet', 'tags'],
    done: 'Connection added. The first check is starting.',
    onDone: ({ id }) => navigate({ to: '/connections/$id', params: { id: String(id) } }),
  });
  // Save exactly what was tested.
  const isTested = test.data !== undefined && JSON.stringify(test.variables) === JSON.stringify(tested);
  const result = isTested && !test.isPending ? test.data : null;
  // What to do about a failure stays while it is being done.
  const shown = result ?? (test.data?.reachable === false && !test.isPending ? test.data : null);
  const error = save.error ?? test.error;
  const fields = { draft, onChange };
  const login = loginOf(given);
  const isBeside = useMedia(BESIDE);
  const role = <MonitoringRole engine={login.engine} isFolded={!isBeside} username={login.username} />;
  return (
    <div className="add-connection">
      {!isBeside && role}
      <Form
        className="connection-fields"
        error={error}
        onSubmit={() => {
          save.reset();
          if (result) save.mutate();
          else test.mutate(tested);
        }}
      >
        <TextField
          {...bind('name')}
          autoFocus={isBeside}
          description="The name that your team uses."
          isRequired
          label="Name"
          maxLength={200}
        />
        <RadioGroup
          choices={[
            { id: 'url', label: 'URL' },
            { id: 'fields', label: 'Separate fields' },
          ]}
          label="Enter the connection as"
          onChange={setWay}
          value={way}
        />
        {way === 'url' ? (
          <TextField
            autoComplete="off"
            description="postgres://user:password@host:5432/database, or mysql://, mariadb:// or pgbouncer://user:password@host"
            parameter="url"
            isRequired
            label="Connection URL"
            maxLength={4_096}
            mono
            onChange={setUrl}
            type="password"
            value={url}
          />
        ) : (
          <>
            <DatabaseFields {...fields} />
            <LoginFields {...fields} />
          </>
        )}
        <SecurityFields
          {...fields}
          draft={way === 'url' ? { ...draft, host: leadsToSocket(given) ? '/' : '' } : draft}
        />
        <CheckFields {...fields} draft={{ ...draft, engine: login.engine }} />
        {isSqlEngine(login.engine) && <TextsQuestion isOn={storesTexts} onChange={setStoresTexts} />}
        <TagsField onChange={setTags} text={tags} />
        {shown && <TestResult onTls={(tls) => onChange({ tls })} test={shown} />}
        <div className="page-actions">
          {/* One button before and after the test, so that it keeps the focus and its meaning. */}
          <Button
            isPending={test.isPending}
            kind={result ? 'plain' : 'primary'}
            {...(result ? { onPress: () => test.mutate(tested) } : { type: 'submit' })}
          >
            {test.isPending ? 'Testing (up to a minute)' : result ? 'Test again' : 'Test connection'}
          </Button>
          {result && (
            <Button icon="plus" isPending={save.isPending} kind="primary" type="submit">
              {result.reachable ? 'Add connection' : 'Add anyway'}
            </Button>
          )}
          {test.data && !result && !test.isPending && (
            <span className="quiet">The settings changed since the last test.</span>
          )}
        </div>
      </Form>
      {isBeside && role}
    </div>
  );
}

/** The SQL to run before the form is filled in. It is long: above the form, it is folded. */
function MonitoringRole({ isFolded, ...login }: { isFolded: boolean; engine: Engine; username: string }) {
  const sql = <MonitoringRoleSql {...login} />;
  return (
    <Section description="Run this on the server as an administrator." title="Create a least-privilege login">
      {isFolded ? (
        <details>
          <summary>Show SQL</summary>
          {sql}
        </details>
      ) : (
        sql
      )}
    </Section>
  );
}
