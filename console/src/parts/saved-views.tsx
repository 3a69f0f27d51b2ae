import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ViewPage } from '../../../src/vocabulary/view-pages.ts';
import { read, send } from '../api.ts';
import { notifyFailure } from './announcer.tsx';
import { Button } from './button.tsx';
import { Confirm, FormDialog } from './dialog.tsx';
import { Checkbox, TextField } from './field.tsx';
import { type Action, ActionMenu } from './menu.tsx';
import { offerUndo } from './undo.ts';
import { useAction, useRenew } from './use-action.ts';
import { useDraft } from './use-draft.ts';

interface View {
  id: number;
  name: string;
  query: string;
  is_shared: boolean;
}

const RENEWS = ['views'];

interface SavedViewsProps {
  page: ViewPage;
  /** The page's search parameters that a view keeps. */
  search: object;
  /** Whether the member may change the views that the account shares. */
  mayShare: boolean;
  /** Shows a view: its search parameters, unchecked. */
  onOpen: (search: Record<string, string>) => void;
}

/** A menu of the page's saved views, which also saves, renames and removes them. */
export function SavedViews({ page, search, mayShare, onOpen }: SavedViewsProps) {
  const [dialog, setDialog] = useState<'save' | 'rename' | 'remove' | null>(null);
  const { data } = useQuery(read<{ data: View[] }>('/views', { page }));
  const views = data?.data ?? [];
  const query = queryOf(search);
  const current = views.find((view) => queryOf(paramsOf(view.query)) === query);
  // The view whose filters the member has changed since.
  const [openedId, setOpenedId] = useState<number | null>(null);
  if (current && current.id !== openedId) setOpenedId(current.id);
  const opened = views.find(({ id }) => id === openedId);
  const renew = useRenew(RENEWS);
  const saveTo = async ({ id, name, is_shared, query: before }: View) => {
    const change = async (changed: string) => {
      await send<View>('PATCH', `${pathOf(is_shared)}/${id}`, { query: changed });
      await renew();
    };
    try {
      await change(query);
    } catch (error) {
      notifyFailure(`Not saved. ${error instanceof Error ? error.message : 'Try again later.'}`);
      return;
    }
    offerUndo(`Saved to “${name}”`, async () => {
      await change(before);
      return `“${name}” is as before`;
    });
  };
  const close = () => setDialog(null);
  return (
    <>
      <ActionMenu
        actions={[
          ...views.map((view, place) => ({
            id: `view ${view.id}`,
            label: view.is_shared ? `${view.name} (shared)` : view.name,
            isChosen: view === current,
            startsGroup: place > 0 && view.is_shared && views[place - 1]?.is_shared === false,
            onAction: () => onOpen(paramsOf(view.query)),
          })),
          ...listChanges(views.length > 0, current, { mayShare, opened, setDialog, saveTo }),
        ]}
        label="Views"
        trigger={
          <Button aria-label={current ? `View ${current.name}` : 'Views'} icon="down">
            <bdi className="view-name">{current?.name ?? 'Views'}</bdi>
          </Button>
        }
      />
      {dialog === 'save' && <NameDialog mayShare={mayShare} onClose={close} page={page} query={query} />}
      {dialog === 'rename' && current && (
        <NameDialog mayShare={false} onClose={close} page={page} query={query} view={current} />
      )}
      {dialog === 'remove' && current && <RemoveDialog onClose={close} page={page} view={current} />}
    </>
  );
}

interface Changes {
  mayShare: boolean;
  /** The view that the member opened last, and has changed since. */
  opened: View | undefined;
  setDialog: (dialog: 'save' | 'rename' | 'remove') => void;
  saveTo: (view: View) => void;
}

/** What can be done with the current view, and with the one that was opened. */
function listChanges(hasViews: boolean, current: View | undefined, changes: Changes): Action[] {
  const { mayShare, opened, setDialog, saveTo } = changes;
  const mayChange = (view: View | undefined): view is View =>
    view !== undefined && (mayShare || !view.is_shared);
  const actions: Action[] = [
    { label: 'Save this view…', icon: 'plus', startsGroup: hasViews, onAction: () => setDialog('save') },
  ];
  if (mayChange(current)) {
    const name = `“${current.name}”…`;
    actions.push(
      { label: `Rename ${name}`, icon: 'pen', onAction: () => setDialog('rename') },
      { label: `Remove ${name}`, icon: 'bin', danger: true, onAction: () => setDialog('remove') },
    );
  }
  if (opened !== current && mayChange(opened)) {
    const label = `Save to “${opened.name}”${opened.is_shared ? ' for everyone' : ''}`;
    actions.push({ label, icon: 'check', onAction: () => saveTo(opened) });
  }
  return actions;
}

interface NameDialogProps {
  page: ViewPage;
  query: string;
  mayShare: boolean;
  /** The view to rename; without one, the dialog saves a new one. */
  view?: View;
  onClose: () => void;
}

/** Asks for the name of a view, to save it or to rename it. */
function NameDialog({ page, query, mayShare, view, onClose }: NameDialogProps) {
  const { draft, bind } = useDraft({ name: view?.name ?? '' });
  const [isShared, setShared] = useState(view?.is_shared ?? false);
  const { name } = draft;
  const save = useAction({
    request: () =>
      view
        ? send<View>('PATCH', `${pathOf(isShared)}/${view.id}`, { name })
        : send<View>('POST', pathOf(isShared), { page, name, query }),
    renews: RENEWS,
    done: view ? 'View renamed' : 'View saved',
    onDone: onClose,
  });
  return (
    <FormDialog
      action={view ? 'Rename view' : 'Save view'}
      isDisabled={name.trim() === view?.name}
      onClose={onClose}
      title={view ? 'Rename this view' : 'Save this view'}
      work={save}
    >
      <TextField
        {...bind('name')}
        autoFocus
        description={
          !view
            ? 'Saves the filters, the order and the layout.'
            : view.is_shared && 'It is renamed for everyone in this account.'
        }
        isRequired
        label="Name"
        maxLength={60}
      />
      {mayShare && (
        <Checkbox isSelected={isShared} onChange={setShared}>
          Share with everyone in this account
        </Checkbox>
      )}
    </FormDialog>
  );
}

function RemoveDialog({ page, view, onClose }: { page: ViewPage; view: View; onClose: () => void }) {
  const { id, name, query, is_shared } = view;
  const renew = useRenew(RENEWS);
  const remove = useAction({
    request: () => send('DELETE', `${pathOf(is_shared)}/${id}`),
    renews: RENEWS,
    onDone() {
      offerUndo('View removed', async () => {
        await send('POST', pathOf(is_shared), { page, name, query });
        await renew();
        return 'View restored';
      });
      onClose();
    },
  });
  return (
    <Confirm action="Remove view" onClose={onClose} title="Remove this view?" work={remove}>
      <p>
        <bdi>“{name}”</bdi> is removed{is_shared && ' for everyone in this account'}. Connections and tickets
        stay as they are.
      </p>
    </Confirm>
  );
}

function pathOf(isShared: boolean): string {
  return isShared ? '/shared-views' : '/views';
}

/** The query of an address with these parameters, in one order. */
function queryOf(search: object): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const params = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  params.sort();
  return params.toString();
}

function paramsOf(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}
