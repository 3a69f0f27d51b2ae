import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import { BASE_PATH } from '../../base-path.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, CopyButton } from '../../parts/copy.tsx';
import { Time } from '../../parts/time.tsx';
import { entryFacts, type Fact, type FieldChange, fieldChanges } from './entry-facts.ts';
import { entryJson } from './entry-text.ts';

/** An entry in full: what changed, its facts, its own address, and on request its JSON. */
export function EntryDetail({ entry }: { entry: ActivityEntry }) {
  const [isJson, setJson] = useState(false);
  const changes = fieldChanges(entry);
  return (
    <div className="entry-detail">
      {changes.length > 0 && <Changes changes={changes} />}
      <dl className="facts entry-facts">
        <div>
          <dt>Time</dt>
          <dd>
            <Time as="full" at={entry.occurred_at} seconds />
          </dd>
        </div>
        {entryFacts(entry).map((fact) => (
          <FactLine fact={fact} key={fact.name} />
        ))}
      </dl>
      <div className="page-actions">
        <CopyButton label="Copy link" text={() => addressOf(entry.id)} what="link" />
        <Button aria-expanded={isJson} kind="quiet" onPress={() => setJson(!isJson)} small>
          {isJson ? 'Hide JSON' : 'Show JSON'}
        </Button>
      </div>
      {isJson && <CodeBlock text={entryJson(entry)} what={`entry ${entry.id}`} />}
    </div>
  );
}

/** The address of an entry, which members with `activity:read` can open. */
function addressOf(id: number): string {
  return `${location.origin}${BASE_PATH}/activity?entry=${id}`;
}

function FactLine({ fact: { name, value, object } }: { fact: Fact }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{value}</bdi>{' '}
        {object && (
          <Link
            aria-label={`Show all entries about ${name.toLowerCase()} ${value}`}
            className="small"
            search={{ object }}
            to="/activity"
          >
            Show all
          </Link>
        )}
      </dd>
    </div>
  );
}

function Changes({ changes }: { changes: readonly FieldChange[] }) {
  return (
    <table className="entry-changes">
      <caption className="hidden-text">What changed</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {changes.map(({ field, before, after }) => (
          <tr key={field}>
            <th scope="row">
              <bdi>{field}</bdi>
            </th>
            {before === null || after === null ? (
              <td className="quiet" colSpan={2}>
                Changed; the log does not have the values
              </td>
            ) : (
              <>
                <td>
                  <del>
                    <bdi>{before}</bdi>
                  </del>
                </td>
                <td>
                  <ins>
                    <bdi>{after}</bdi>
                  </ins>
                </td>
              </>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
