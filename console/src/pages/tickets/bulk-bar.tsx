import { Button, IconButton } from '../../parts/button.tsx';
import type { TriageAction } from './use-triage-actions.tsx';

interface BulkBarProps {
  count: number;
  /** How many tickets the list has. */
  total: number;
  /** How many can be selected at most. */
  most: number;
  onAll: () => void;
  onClear: () => void;
  onAction: (action: TriageAction) => void;
  isPending: boolean;
}

/** What can be done with the selected tickets. */
export function BulkBar({ count, total, most, onAll, onClear, onAction, isPending }: BulkBarProps) {
  const all = Math.min(total, most);
  return (
    <div aria-label="Selected tickets" className="bulk-bar" role="toolbar">
      <span aria-live="polite" className="bulk-count">
        {count.toLocaleString('en')} selected
      </span>
      {count < all && (
        <Button kind="quiet" onPress={onAll} small>
          {total > most
            ? `Select first ${most.toLocaleString('en')}`
            : `Select all ${all.toLocaleString('en')}`}
        </Button>
      )}
      <span className="page-actions">
        <Action isPending={isPending} letter="a" onPress={() => onAction('assign')} word="Assign" />
        <Action isPending={isPending} letter="e" onPress={() => onAction('acknowledge')} word="Acknowledge" />
        <Action isPending={isPending} letter="s" onPress={() => onAction('snooze')} word="Snooze" />
        <IconButton icon="close" label="Clear selection" onPress={onClear} />
      </span>
    </div>
  );
}

interface ActionProps {
  word: string;
  letter: string;
  onPress: () => void;
  isPending: boolean;
}

function Action({ word, letter, onPress, isPending }: ActionProps) {
  return (
    <Button isDisabled={isPending} onPress={onPress} small>
      {word}
      <span aria-hidden="true" className="key-hint">
        {letter}
      </span>
    </Button>
  );
}
