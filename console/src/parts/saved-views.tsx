import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ViewPage } from '../../../src/vocabulary/view-pages.ts';
import { fieldError, get, send } from '../api.ts';
import { notify, notifyFailure } from './announcer.tsx';
import { Button } from './button.tsx';
import { Confirm, FormDialog } from './dialog.tsx';
import { Checkbox, TextField } from './field.tsx';
import { type Action, ActionMenu } from './menu.tsx';
import { InlineError } from './states.tsx';
import { offerUndo } from './undo.ts';

interface View {
  id: number;
  name: string;
  query: string;
  is_shared: boolean;
}

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
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: ['views', page],
    queryFn: ({ signal }) => get<{ data: View[] }>('/views', { page }, signal),
  });
  const views = data?.data ?? [];
  const query = queryOf(search);
  const current = views.find((view) => queryOf(paramsOf(view.query)) === query);
  // The view whose filters the member has changed since.
  const [openedId, setOpenedId] = useState<number | null>(null);
  if (current && current.id !== openedId) setOpenedId(current.id);
  const opened = views.find(({ id }) => id === openedId);
  const renew = () => queries.invalidateQueries({ queryKey: ['views', page] });
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
          ...changesOf(views, current, { mayShare, setDialog }),
          ...(opened && opened !== current && (mayShare || !opened.is_shared)
            ? [saveToAction(opened, () => void saveTo(opened))]
            : []),
        ]}
        label="Views"
        trigger={
          <Button aria-label={current ? `View ${current.name}` : 'Views'} icon="down">
            <bdi className="view-name">{current?.name ?? 'Views'}</bdi>
          </Button>
        }
      />
      {dialog === 'save' && (
        <SaveDialog mayShare={mayShare} onClose={close} onSaved={renew} page={page} query={query} />
      )}
      {dialog === 'rename' && current && <RenameDialog onClose={close} onRenamed={renew} view={current} />}
      {dialog === 'remove' && current && (
        <RemoveDialog page={page} onClose={close} onRemoved={renew} view={current} />
      )}
    </>
  );
}

function saveToAction({ name, is_shared }: View, onAction: () => void): Action {
  const label = `Save to “${name}”${is_shared ? ' for everyone' : ''}`;
  return { id: 'save-to', label, icon: 'check', onAction };
}

function changesOf(
  views: readonly View[],
  current: View | undefined,
  { mayShare, setDialog }: { mayShare: boolean; setDialog: (dialog: 'save' | 'rename' | 'remove') => void },
): Action[] {
  const save: Action = {
    id: 'save',
    label: 'Save this view…',
    icon: 'plus',
    startsGroup: views.length > 0,
    onAction: () => setDialog('save'),
  };
  if (!current || (current.is_shared && !mayShare)) return [save];
  const remove: Action = {
    id: 'remove',
    label: `Remove “${current.name}”…`,
    icon: 'bin',
    danger: true,
    onAction: () => setDialog('remove'),
  };
  const rename: Action = {
    id: 'rename',
    label: `Rename “${current.name}”…`,
    icon: 'pen',
    onAction: () => setDialog('rename'),
  };
  return [save, rename, remove];
}

interface SaveProps {
  page: ViewPage;
  query: string;
  mayShare: boolean;
  onClose: () => void;
  onSaved: () => Promise<void>;
}

function SaveDialog({ page, query, mayShare, onClose, onSaved }: SaveProps) {
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => send<View>('POST', pathOf(isShared), { page, name, query }),
    async onSuccess() {
      await onSaved();
      notify('View saved');
      onClose();
    },
  });
  return (
    <FormDialog
      action="Save view"
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => mutate()}
      title="Save this view"
    >
      <TextField
        autoFocus
        description="Saves the filters, the order and the layout."
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={60}
        onChange={setName}
        value={name}
      />
      {mayShare && (
        <Checkbox isSelected={isShared} onChange={setShared}>
          Share with everyone in this account
        </Checkbox>
      )}
      <InlineError error={error} fields={['name']} />
    </FormDialog>
  );
}

interface RenameProps {
  view: View;
  onClose: () => void;
  onRenamed: () => Promise<void>;
}

function RenameDialog({ view, onClose, onRenamed }: RenameProps) {
  const [name, setName] = useState(view.name);
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => send<View>('PATCH', `${pathOf(view.is_shared)}/${view.id}`, { name }),
    async onSuccess() {
      await onRenamed();
      notify('View renamed');
      onClose();
    },
  });
  return (
    <FormDialog
      action="Rename view"
      isDisabled={name.trim() === view.name}
      isPending={isPending}
      onClose={onClose}
      onSubmit={() => mutate()}
      title="Rename this view"
    >
      <TextField
        autoFocus
        {...(view.is_shared && { description: 'It is renamed for everyone in this account.' })}
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={60}
        onChange={setName}
        value={name}
      />
      <InlineError error={error} fields={['name']} />
    </FormDialog>
  );
}

interface RemoveProps {
  page: ViewPage;
  view: View;
  onClose: () => void;
  onRemoved: () => Promise<void>;
}

function RemoveDialog({ page, view: { id, name, query, is_shared }, onClose, onRemoved }: RemoveProps) {
  const { error, isPending, mutate } = useMutation({
    mutationFn: () => send('DELETE', `${pathOf(is_shared)}/${id}`),
    async onSuccess() {
      await onRemoved();
      offerUndo('View removed', async () => {
        await send('POST', pathOf(is_shared), { page, name, query });
        await onRemoved();
        return 'View restored';
      });
      onClose();
    },
  });
  return (
    <Confirm
      action="Remove view"
      isOpen
      isPending={isPending}
      onClose={onClose}
      onConfirm={() => mutate()}
      title="Remove this view?"
    >
      <p>
        <bdi>“{name}”</bdi> is removed{is_shared && ' for everyone in this account'}. Connections and tickets
        stay as they are.
      </p>
      <InlineError error={error} />
    </Confirm>
  );
}

function pathOf(isShared: boolean): string {
  return isShared ? '/shared-views' : '/views';
}

/** The query of an address with these parameters, in one order. */
function queryOf(search: object): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const sorted = given
    .map(([name, value]) => [name, String(value)])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return new URLSearchParams(sorted).toString();
}

function paramsOf(query: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(query));
}
