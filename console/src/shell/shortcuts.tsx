import './shortcuts.css';
import { Dialog } from '../parts/dialog.tsx';

const EVERYWHERE = [
  ['Ctrl+K', 'Go to a page, connection or ticket, or do something'],
  ['/', 'Search'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open row'],
  ['Esc', 'Close'],
  ['z', 'Undo what was just done, where a notice offers it'],
  ['?', 'Show this list'],
] as const;

const TICKETS = [
  ['x', 'Select or clear the row'],
  ['X', 'Select the rows up to this one'],
  ['a', 'Assign'],
  ['e', 'Acknowledge, or make new again'],
  ['s', 'Snooze'],
  ['S', 'Silence the finding of one ticket'],
  ['c', 'Comment'],
] as const;

/** The list of keyboard shortcuts. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <ShortcutList shortcuts={EVERYWHERE} />
      <h3 className="shortcuts-heading">Tickets</h3>
      <ShortcutList shortcuts={TICKETS} />
    </Dialog>
  );
}

function ShortcutList({ shortcuts }: { shortcuts: readonly (readonly [key: string, words: string])[] }) {
  return (
    <dl className="shortcuts">
      {shortcuts.map(([key, words]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{words}</dd>
        </div>
      ))}
    </dl>
  );
}
