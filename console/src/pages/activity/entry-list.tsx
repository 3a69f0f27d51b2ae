import { Link, linkOptions } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import { figure } from '../../parts/figure.ts';
import { Icon } from '../../parts/icons.tsx';
import type { Pages } from '../../parts/more-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { escapeTurning } from '../../parts/visible-text.ts';
import { EntryDetail } from './entry-detail.tsx';
import { actorText, type SentencePart, toSentence } from './entry-text.ts';
import { missingBetween } from './log-integrity.tsx';

interface EntryListProps {
  /** Latest first. */
  entries: readonly ActivityEntry[];
  /** The entry that is shown in full. */
  open: string | undefined;
  /** The filter hides entries, so missing ids are no gaps. */
  isFiltered: boolean;
  pages: Pages;
}

/** Activity log entries, latest first. Each opens to show what it changed. */
export function EntryList({ entries, open, isFiltered, pages }: EntryListProps) {
  // Missing ids are reported below the entry before the gap.
  const gaps = useMemo(
    () => (isFiltered ? new Map<number, number>() : gapsBelow(entries)),
    [entries, isFiltered],
  );
  const columns = useMemo(() => columnsFor(open), [open]);
  const detail = (entry: ActivityEntry) => {
    const missing = gaps.get(entry.id) ?? 0;
    const isOpen = String(entry.id) === open;
    if (missing === 0 && !isOpen) return null;
    return (
      <>
        {isOpen && <EntryDetail entry={entry} />}
        {missing > 0 && (
          <p className="log-gap">{missing === 1 ? '1 entry is' : `${missing} entries are`} missing here</p>
        )}
      </>
    );
  };
  return (
    <Table
      columns={columns}
      detail={detail}
      hasKeyboardNavigation
      label="Activity log entries"
      pages={pages}
      rowHeight={45}
      rowKey={idOf}
      rows={entries}
    />
  );
}

function idOf({ id }: ActivityEntry): number {
  return id;
}

function gapsBelow(entries: readonly ActivityEntry[]): Map<number, number> {
  return new Map(
    entries.flatMap((entry, place) => {
      const missing = missingBetween(entry, entries[place + 1]);
      return missing > 0 ? [[entry.id, missing]] : [];
    }),
  );
}

function columnsFor(open: string | undefined): readonly Column<ActivityEntry>[] {
  return [
    {
      header: 'Entry',
      cell: ({ id }) => <span className="mono">{figure(id)}</span>,
      width: '5rem',
      align: 'end',
    },
    {
      header: 'Time',
      cell: ({ occurred_at }) => <Time as="local" at={occurred_at} seconds />,
      width: 'minmax(11.5rem, 12.75rem)',
    },
    {
      header: 'What happened',
      cell: (entry) => <Sentence entry={entry} isOpen={String(entry.id) === open} />,
      narrow: 'lead',
    },
  ];
}

/** Who did what to what. The first words open the entry, and objects link to their pages. */
function Sentence({ entry, isOpen }: { entry: ActivityEntry; isOpen: boolean }) {
  const { id } = entry;
  const [{ text: verb } = { text: '' }, ...rest] = toSentence(entry);
  const actor = actorText(entry);
  return (
    <span className="entry-sentence">
      <Link
        activeOptions={{ exact: true }}
        aria-expanded={isOpen}
        className="row-link"
        from="/activity"
        resetScroll={false}
        search={(old) => ({ ...old, entry: isOpen ? undefined : String(id) })}
        to="/activity"
      >
        <Icon name={isOpen ? 'down' : 'right'} size={12} />
        <bdi className="entry-actor">{actor.charAt(0).toUpperCase() + actor.slice(1)}</bdi> {verb.trimEnd()}
      </Link>
      {rest.length > 0 && ' '}
      {rest.map((part) => (
        <Part isOpen={isOpen} key={`${part.object?.kind} ${part.text}`} part={part} />
      ))}
    </span>
  );
}

/** Where an object of a sentence links to. */
const TARGETS = {
  connection: (id) => linkOptions({ to: '/connections/$id', params: { id } }),
  ticket: (id) => linkOptions({ to: '/tickets', search: { ticket: id, status: 'all' } }),
  destination: (id) => linkOptions({ to: '/notifications/$id', params: { id } }),
  alert: (id) => linkOptions({ to: '/alerts', search: { alert: id } }),
  rule: () => linkOptions({ to: '/alerts', search: { view: 'rules' } }),
  key: (id) => linkOptions({ to: '/keys', search: { key: id } }),
  member: () => linkOptions({ to: '/team' }),
} satisfies Record<NonNullable<SentencePart['object']>['kind'], (id: string) => object>;

/** The links of a closed entry are no Tab stops: the log has hundreds of rows, and each is one stop. Enter opens the entry. */
function Part({ part: { text, object }, isOpen }: { part: SentencePart; isOpen: boolean }) {
  const words = <bdi>{escapeTurning(text)}</bdi>;
  if (object === undefined) return words;
  return (
    <Link {...TARGETS[object.kind](object.id)} tabIndex={isOpen ? 0 : -1}>
      {words}
    </Link>
  );
}
