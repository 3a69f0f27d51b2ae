import { Link } from '@tanstack/react-router';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icons.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { aboutEntry, actionWord, byWhom, entryJson } from './entry-words.ts';
import { missingBetween } from './log-state.tsx';

interface EntryListProps {
  /** Latest first. */
  entries: readonly ActivityEntry[];
  /** The entry whose JSON is shown. */
  open: string | undefined;
  isOfOneKind: boolean;
  onEnd: () => void;
}

/** Entries of the log, latest first; each can be opened to see it as the API gives it. */
export function EntryList({ entries, open, isOfOneKind, onEnd }: EntryListProps) {
  // Where ids lack below an entry, it is said there.
  const gaps = new Map<number, number>();
  if (!isOfOneKind) {
    for (const [place, entry] of entries.entries()) {
      const missing = missingBetween(entry, entries[place + 1]);
      if (missing > 0) gaps.set(entry.id, missing);
    }
  }
  const detail = (entry: ActivityEntry) => {
    const missing = gaps.get(entry.id) ?? 0;
    const isOpen = String(entry.id) === open;
    if (missing === 0 && !isOpen) return null;
    return (
      <>
        {isOpen && <CodeBlock text={entryJson(entry)} what={`entry ${entry.id}`} />}
        {missing > 0 && (
          <p className="log-gap">{missing === 1 ? 'An entry is' : `${missing} entries are`} missing here</p>
        )}
      </>
    );
  };
  return (
    <Table
      columns={columnsFor(open)}
      detail={detail}
      hasKeys
      label="Entries of the log"
      onEnd={onEnd}
      rowHeight={45}
      rowKey={({ id }) => id}
      rows={entries}
    />
  );
}

function columnsFor(open: string | undefined): readonly Column<ActivityEntry>[] {
  return [
    {
      id: 'id',
      header: 'Entry',
      cell: ({ id }) => <span className="mono">{id.toLocaleString('en')}</span>,
      width: '5.5rem',
    },
    {
      id: 'occurred_at',
      header: 'When',
      cell: ({ occurred_at }) => <Time as="local" at={occurred_at} seconds />,
      width: '11.5rem',
    },
    {
      id: 'action_type',
      header: 'Action',
      cell: (entry) => <EntryLink entry={entry} isOpen={String(entry.id) === open} />,
      width: 'minmax(10rem, 14.5rem)',
      narrow: 'lead',
    },
    { id: 'about', header: 'What', cell: (entry) => <bdi className="entry-about">{aboutEntry(entry)}</bdi> },
    {
      id: 'by',
      header: 'By',
      cell: (entry) => <bdi className="entry-about quiet">{byWhom(entry)}</bdi>,
      width: '10rem',
    },
  ];
}

function EntryLink({ entry: { id, action_type }, isOpen }: { entry: ActivityEntry; isOpen: boolean }) {
  return (
    <Link
      activeOptions={{ exact: true }}
      aria-expanded={isOpen}
      className="row-link entry-link"
      from="/activity"
      resetScroll={false}
      search={(old) => ({ ...old, entry: isOpen ? undefined : String(id) })}
      to="/activity"
    >
      <Icon name={isOpen ? 'down' : 'right'} size={12} />
      <bdi>{actionWord(action_type)}</bdi>
    </Link>
  );
}
