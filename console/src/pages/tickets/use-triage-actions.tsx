import { useEffect, useRef, useState } from 'react';
import { focusedRow, focusRow } from '../../parts/keyboard-navigation.ts';
import { useRenewConnections } from '../../parts/renew-connections.ts';
import { useShortcut } from '../../parts/shortcut.ts';
import { SilenceDialog } from '../../parts/silence-dialog.tsx';
import { useCan } from '../../shell/profile.ts';
import { AssignDialog } from './assign-dialog.tsx';
import { SnoozeDialog, snoozedUntil } from './snooze-dialog.tsx';
import { type SeenTicket, type Step, useTriage } from './tickets-query.ts';

/** What an action needs to know of a ticket. */
export interface Target extends SeenTicket, Partial<TicketFinding> {
  state: string;
  assignee: { id: number } | null;
}

/** What a silence needs to know of a ticket. A ticket beyond the loaded pages has none of it. */
interface TicketFinding {
  connection_id: number;
  check_id: string;
  title: string;
  object: string | null;
}

function isLoaded(ticket: Target): ticket is Target & TicketFinding {
  return ticket.check_id !== undefined;
}

export type TriageAction = 'assign' | 'acknowledge' | 'snooze';

export type TriageActions = ReturnType<typeof useTriageActions>;

/**
 * The actions on tickets, and their keys: `a`, `e`, `s`, and `S` for a silence of one ticket.
 * `targets` tells which tickets an action is for; it is asked when the action begins. `dialog` must be rendered.
 */
export function useTriageActions(targets: () => readonly Target[], onDone: () => void) {
  const can = useCan()('connections:write');
  const change = useTriage();
  const [asking, setAsking] = useState<{ action: 'assign' | 'snooze'; of: readonly Target[] } | null>(null);
  const [silencing, setSilencing] = useState<(Target & TicketFinding) | null>(null);
  const refresh = useRenewConnections();
  const keepFocus = useKeptFocus();
  const run = (of: readonly Target[], wanted: Step['wanted'], done: string) => {
    const tickets = of.map(({ id, version }) => ({ id, version }));
    setAsking(null);
    change.mutate(
      { tickets, wanted, done },
      {
        onSuccess() {
          onDone();
          keepFocus();
        },
      },
    );
  };
  const start = (action: TriageAction, of = targets()) => {
    if (!can || of.length === 0 || change.isPending) return;
    keepFocus.mark();
    if (action !== 'acknowledge') return setAsking({ action, of });
    const isAll = of.every(({ state }) => state === 'acknowledged' || state === 'snoozed');
    run(of, { acknowledged: !isAll }, isAll ? 'new again' : 'acknowledged');
  };
  const silence = (ticket: Target) => {
    if (!can || !isLoaded(ticket) || ticket.state === 'resolved' || ticket.state === 'silenced') return;
    keepFocus.mark();
    setSilencing(ticket);
  };
  useShortcut('a', () => start('assign'));
  useShortcut('e', () => start('acknowledge'));
  useShortcut('s', () => start('snooze'));
  useShortcut('S', () => {
    const [ticket, ...more] = targets();
    if (ticket && more.length === 0) silence(ticket);
  });
  const close = () => setAsking(null);
  const titled = (verb: string, of: readonly Target[]) =>
    of.length === 1 ? `${verb} ticket` : `${verb} ${of.length.toLocaleString('en')} tickets`;
  const dialog = silencing ? (
    <SilenceDialog
      connectionId={silencing.connection_id}
      finding={silencing}
      onClose={() => setSilencing(null)}
      onSilenced={async () => {
        await refresh();
        onDone();
        keepFocus();
      }}
    />
  ) : asking?.action === 'assign' ? (
    <AssignDialog
      assignee={assigneeOf(asking.of)}
      onAssign={(id, name) =>
        run(asking.of, { assignee_id: id }, id === null ? 'unassigned' : `assigned to ${name}`)
      }
      onClose={close}
      title={titled('Assign', asking.of)}
    />
  ) : asking?.action === 'snooze' ? (
    <SnoozeDialog
      onClose={close}
      onSnooze={(until) => run(asking.of, { acknowledged: true, until }, snoozedUntil(until))}
      title={titled('Snooze', asking.of)}
    />
  ) : null;
  return { can, start, silence, error: change.error, dialog, isPending: change.isPending };
}

function assigneeOf(of: readonly Target[]): number | null | undefined {
  const ids = new Set(of.map(({ assignee }) => assignee?.id ?? null));
  return ids.size === 1 ? [...ids][0] : undefined;
}

/** Longer than React Aria takes to return the focus after a dialog. */
const GIVEN_BACK_MS = 150;

/**
 * After an action the focus stays at its place in the list, also when its ticket has left the list. `mark` remembers the
 * place.
 */
function useKeptFocus(): (() => void) & { mark: () => void } {
  const at = useRef(-1);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const keep = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const { activeElement, body } = document;
      if (at.current < 0 || (activeElement !== null && activeElement !== body)) return;
      const list = document.querySelector<HTMLElement>('.ticket-list .table-body');
      const last = Number(list?.querySelector('.table-item:last-child')?.getAttribute('data-index') ?? -1);
      if (last < 0) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      else focusRow({ current: list }, Math.min(at.current, last));
    }, GIVEN_BACK_MS);
  };
  return Object.assign(keep, {
    mark: () => {
      at.current = focusedRow();
    },
  });
}
