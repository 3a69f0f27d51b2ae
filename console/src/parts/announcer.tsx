import './announcer.css';
import { useSyncExternalStore } from 'react';
import { Icon } from './icons.tsx';

interface Notice {
  id: number;
  text: string;
  visible: boolean;
}

/** Long enough to read a sentence twice. */
const STAYS_MS = 6_000;

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function say(text: string, visible: boolean): void {
  last += 1;
  const notice = { id: last, text, visible };
  change([...notices.slice(-3), notice]);
  setTimeout(() => change(notices.filter(({ id }) => id !== notice.id)), STAYS_MS);
}

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Announces to screen readers what others can see, such as "Copied" or "42 connections". */
export function announce(text: string): void {
  say(text, false);
}

/** Shows a short notice for a few seconds. Never use it for something that must be read. */
export function notify(text: string): void {
  say(text, true);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * The page's only live region. Screen readers need it to exist before its first message. The attribute makes React Aria
 * keep it accessible while a dialog hides everything else.
 */
export function Announcer() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div aria-live="polite" className="announcer" data-live-announcer="true" role="status">
      {shown.map(({ id, text, visible }) => (
        <p className={visible ? 'notice' : 'hidden-text'} key={id}>
          {visible && <Icon name="check" />}
          {text}
        </p>
      ))}
    </div>
  );
}
