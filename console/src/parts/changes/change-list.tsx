import './change-list.css';
import { type ReactNode, useState } from 'react';
import { type Change, cameAndWent, kindText } from '../../../../src/platform/text/change-text.ts';
import { Button } from '../button.tsx';
import { type Column, Table } from '../table.tsx';
import { Time } from '../time.tsx';

/** Longer values, such as the definition of an index, are cut until somebody asks for all of them. */
const LONGEST = 200;

function Value({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > LONGEST;
  return (
    <>
      <bdi className="mono">{isLong && !isWhole ? `${text.slice(0, LONGEST)}…` : text || '(empty)'}</bdi>
      {isLong && (
        <Button aria-expanded={isWhole} kind="quiet" onPress={() => setWhole(!isWhole)} small>
          {isWhole ? 'Show less' : 'Show all'}
        </Button>
      )}
    </>
  );
}

/** What happened: values before and after, or which of them came or went. */
function BeforeAfter({ change: { kind, before, after } }: { change: Change }) {
  if (before !== null && after !== null) {
    return (
      <>
        <Value text={before} /> <span aria-hidden="true">→</span>
        <span className="hidden-text"> changed to </span> <Value text={after} />
      </>
    );
  }
  const only = after ?? before;
  const { came, went } = cameAndWent(kind);
  return (
    <>
      {only !== null && <span className="quiet">{after === null ? went : came} </span>}
      {only !== null && <Value text={only} />}
    </>
  );
}

const COLUMNS: Column<Change>[] = [
  {
    header: 'Time',
    width: 'minmax(9rem, 11rem)',
    cell: ({ at }) => <Time as="local" at={at} />,
  },
  { header: 'Kind', width: '6rem', cell: ({ kind }) => kindText(kind) },
  {
    header: 'Subject',
    width: 'minmax(15.75rem, 3fr)',
    narrow: 'lead',
    cell: ({ subject, database }) => (
      <span className="change-subject">
        <bdi className="mono">{subject}</bdi>
        {database && (
          <span className="quiet small">
            in <bdi className="mono">{database}</bdi>
          </span>
        )}
      </span>
    ),
  },
  {
    header: 'Before → after',
    width: 'minmax(8.5rem, 3fr)',
    cell: (change) => (
      <span className="change-values">
        <BeforeAfter change={change} />
      </span>
    ),
  },
  {
    header: 'Source',
    width: 'minmax(5rem, 1fr)',
    cell: ({ source }) => <bdi className="change-source quiet">{source ?? ''}</bdi>,
  },
];

/** Changes as lines, for a summary. */
export function ChangeLines({ changes, label }: ChangeListProps) {
  return (
    <ul aria-label={label} className="change-lines">
      {changes.map((change) => (
        <li key={change.id}>
          <span className="quiet">
            <Time at={change.at} />
          </span>
          <span className="change-values">
            {kindText(change.kind)} <bdi className="mono">{change.subject}</bdi>{' '}
            <BeforeAfter change={change} />
          </span>
        </li>
      ))}
    </ul>
  );
}

interface ChangeListProps {
  changes: readonly Change[];
  /** The accessible name of the list. */
  label: string;
  /** What stands in its place without changes. */
  empty?: ReactNode;
}

/** What changed on a monitored server, and how it is monitored, latest first. */
export function ChangeList({ changes, ...props }: ChangeListProps) {
  return <Table {...props} columns={COLUMNS} rowKey={({ id }) => id} rows={changes} />;
}
