import './announcer.css';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components/Button';
import { Icon } from './icons.tsx';

/** What is announced, and shown unless `hidden`. */
export interface Notice {
  id: number;
  text: string;
  kind: 'done' | 'failed' | 'standing' | 'hidden';
  action: NoticeAction | null;
}

/** What a notice offers, such as to undo what it says. A shortcut does the same, for those who come too late. */
export interface NoticeAction {
  label: string;
  onAction: () => void;
}

/** Long enough to read a sentence twice. */
const STAYS_MS = 6_000;
/** With an action: long enough to reach it. */
const OFFERED_MS = 12_000;
/** The most visible notices, and the most hidden ones. */
const MOST = 4;

let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function say(text: string, kind: Notice['kind'], action: NoticeAction | null = null): number {
  last += 1;
  const notice = { id: last, text, kind, action };
  change(withNotice(notices, notice));
  if (kind !== 'standing') setTimeout(() => dismiss(notice.id), action ? OFFERED_MS : STAYS_MS);
  return notice.id;
}

/** Adds a notice and drops the oldest of more than four. Hidden ones count apart: they must not push out an Undo. */
export function withNotice(kept: readonly Notice[], notice: Notice): Notice[] {
  const like = kept.filter(({ kind }) => (kind === 'hidden') === (notice.kind === 'hidden'));
  const dropped = like.length < MOST ? undefined : like[0];
  return [...kept.filter((one) => one !== dropped), notice];
}

function dismiss(notice: number): void {
  change(notices.filter(({ id }) => id !== notice));
}

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Announces to screen readers what others can see, such as "Copied" or "42 connections". */
export function announce(text: string): void {
  say(text, 'hidden');
}

/** Shows for a few seconds what was done. Never use it for something that must be read. */
export function notify(text: string, action?: NoticeAction): void {
  say(text, 'done', action);
}

/** Shows for a few seconds what failed or was refused. Never use it for something that must be read. */
export function notifyFailure(text: string): void {
  say(text, 'failed');
}

/**
 * Shows an error above the page, which stays as it is, while `text` is set and nobody dismisses it. Parts of a page that fail for
 * one reason show it once.
 */
export function useStandingNotice(text: string | null, action: NoticeAction | null = null): void {
  const latest = useRef(action);
  latest.current = action;
  const label = action?.label;
  useEffect(() => {
    if (text === null) return;
    const notice = say(
      text,
      'standing',
      label ? { label, onAction: () => latest.current?.onAction() } : null,
    );
    return () => dismiss(notice);
  }, [text, label]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const LOOKS = {
  done: 'notice',
  failed: 'notice failed-notice',
  standing: 'notice failed-notice standing-notice',
  hidden: 'hidden-text',
} as const;

/**
 * The page's only live region. Screen readers need it to exist before its first message. The attribute makes React Aria
 * keep it accessible while a dialog hides everything else.
 */
export function Announcer() {
  const shown = useSyncExternalStore(subscribe, () => notices);
  return (
    <div aria-live="polite" className="announcer" data-live-announcer="true" role="status">
      {shown.filter(isFirst).map((notice) => (
        <ShownNotice key={notice.id} {...notice} />
      ))}
    </div>
  );
}

/** Whether no earlier notice that stands has the same text. */
function isFirst({ text, kind }: Notice, place: number, all: readonly Notice[]): boolean {
  return kind !== 'standing' || all.findIndex((one) => one.kind === kind && one.text === text) === place;
}

function ShownNotice({ id, text, kind, action }: Notice) {
  const dismissAll = () =>
    change(notices.filter((one) => one.id !== id && (kind !== 'standing' || one.text !== text)));
  return (
    <p className={LOOKS[kind]}>
      {kind !== 'hidden' && <Icon name={kind === 'done' ? 'check' : 'alerts'} />}
      <span>{text}</span>
      {action && (
        <Button
          className="button quiet small-button"
          onPress={() => {
            dismissAll();
            action.onAction();
          }}
        >
          {action.label}
        </Button>
      )}
      {kind === 'standing' && (
        <Button aria-label="Dismiss" className="button quiet icon-button" onPress={dismissAll}>
          <Icon name="close" />
        </Button>
      )}
    </p>
  );
}
