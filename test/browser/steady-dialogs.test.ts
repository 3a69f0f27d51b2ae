import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, keepPicture, openWindow, visit, WIDE, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { addDestination } from './destinations.ts';
import { ANSWERS, drawn, fillEmpty, press, refuse, WORD } from './steady.ts';

const SOURCE = join(import.meta.dirname, '../../console/src');

let service: ConsoleAccount;
let owner: Person;
let opened: Window;
let page: Page;

/** What the paths of the cases name. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  service = await createConsoleAccount({ connections: 3, tickets: 12, activity: 20 });
  owner = await service.owner();
  await service.member('Grace Hopper', ['viewer']);
  const ask = <T>(method: string, path: string, body?: unknown) => service.ask<T>(owner, method, path, body);
  type Rows = { data: { id: number; connection_id: number; check_id: string }[] };
  const [first] = (await ask<Rows>('GET', '/tickets')).data;
  if (!first) throw new Error('There is no ticket.');
  ids['connection'] = String(first.connection_id);
  ids['ticket'] = String(first.id);
  const silenced = (await ask<Rows>('GET', '/tickets')).data.find(
    ({ connection_id, check_id }) => connection_id === first.connection_id && check_id !== first.check_id,
  );
  await ask('POST', `/connections/${first.connection_id}/silences`, {
    check_id: silenced?.check_id ?? 'PG_UNUSED_INDEX',
    reason: 'accepted_risk',
    note: 'planned',
  });
  await ask('POST', `/tickets/${first.id}/comments`, { body: 'Seen.' });
  await ask('POST', '/collectors', { name: WORD });
  await ask('POST', '/keys', { name: WORD, expires_in: 86_400 });
  await ask('POST', `/connections/${first.connection_id}/heartbeat`);
  await ask('POST', '/own-checks', {
    ...{ id: 'QUEUE', title: 'Queue', engine: 'postgres', database: null, sql: 'select 1 as value' },
    ...{ unit: 'count', operator: '>=', warning: 1, critical: null, remediation: '' },
    ...{ every: null, timeout: 5, tags: [] },
  });
  await ask('POST', '/views', { page: 'tickets', name: 'Mine', query: 'status=all' });
  const url = 'http://127.0.0.1:9/';
  ids['hook'] = String((await addDestination(service, owner, { url, channel: 'webhook' })).destination.id);
  const off = await addDestination(service, owner, { url, channel: 'webhook', name: 'Off' });
  ids['off'] = String(off.destination.id);
  await ask('POST', `/destinations/${ids['off']}/disable`);
  const ends_at = new Date(Date.now() + 3_600_000).toISOString();
  await ask('POST', '/maintenance', { name: 'Restart', connections: { ids: null, names: null }, ends_at });
  await service.statement(`
    insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity, triggered_at)
    select account_id, rule_id, ${first.connection_id}, 'open', now(), 'score', '<', 50, 12,
           jsonb_build_object('rule_name', name, 'check_id', null, 'database', '', 'object', null,
                              'metric_line', 'The score is 12.', 'remediation', null, 'worst', 12), 'critical', now()
      from alert_rule where account_id = ${service.accountId} and metric = 'score' limit 1`);
  const { items: alerts } = await ask<{ items: { id: number }[] }>('GET', '/alerts');
  ids['alert'] = String(alerts[0]?.id);
  opened = await openWindow(service.origin, owner);
  page = opened.page;
  page.setDefaultTimeout(5_000);
});

afterAll(closeWindows);

interface Case {
  /** The files in `console/src` whose form or question it opens. */
  files: string;
  path: string;
  open?: (at: Page) => Promise<unknown>;
}

/** An action of a row's menu. */
const act = (row: RegExp, action: string) => async (at: Page) => {
  await at.getByRole('button', { name: row }).first().click();
  await at.getByRole('menuitem', { name: action }).click();
};

const DIALOGS: Record<string, Case> = {
  'silence a finding': {
    files: 'parts/silence-dialog.tsx',
    path: '/tickets?ticket=$ticket',
    open: press('Silence'),
  },
  'end a silence': {
    files: 'pages/connection/silences.tsx',
    path: '/connections/$connection?tab=findings',
    open: (at) =>
      at
        .getByRole('button', { name: /^End silence/ })
        .first()
        .click(),
  },
  'end silences of an account': {
    files: 'pages/thresholds/account-silences.tsx',
    path: '/thresholds?view=silences',
    async open(at) {
      await at.locator('.checkbox').first().click();
      await press('End 1 silence')(at);
    },
  },
  'save a view': {
    files: 'parts/saved-views.tsx',
    path: '/tickets',
    open: act(/^Views$/, 'Save this view'),
  },
  'rename a view': {
    files: 'parts/saved-views.tsx',
    path: '/tickets?status=all',
    async open(at) {
      await act(/^View Mine/, 'Rename')(at);
      await at.getByLabel('Name', { exact: true }).fill('Ours');
    },
  },
  'remove a view': {
    files: 'parts/saved-views.tsx',
    path: '/tickets?status=all',
    open: act(/^View Mine/, 'Remove'),
  },
  tags: { files: 'parts/tag-dialog.tsx', path: '/connections/$connection?edit=tags' },
  'edit a member': {
    files: 'pages/team/edit-member.tsx',
    path: '/team',
    open: act(/^Actions for Grace Hopper/, 'Edit'),
  },
  'suspend a member': {
    files: 'pages/team/confirm-member.tsx',
    path: '/team',
    open: act(/^Actions for Grace Hopper/, 'Suspend'),
  },
  'invite a member': {
    files: 'pages/team/invite-member.tsx',
    path: '/team',
    open: press('Invite member'),
  },
  'create a key': {
    files: 'pages/keys/create-key.tsx',
    path: '/keys?create=1',
  },
  'change access of a key': {
    files: 'pages/keys/change-access.tsx',
    path: '/keys',
    open: act(/^Actions for 7/, 'Change access'),
  },
  'regenerate a key': {
    files: 'pages/keys/regenerate-key.tsx',
    path: '/keys',
    open: act(/^Actions for 7/, 'Regenerate'),
  },
  'revoke a key': {
    files: 'pages/keys/revoke-key.tsx',
    path: '/keys',
    open: act(/^Actions for 7/, 'Revoke'),
  },
  'enrol a collector': {
    files: 'pages/collectors/enrol-dialog.tsx',
    path: '/collectors',
    open: press('Enrol collector'),
  },
  'revoke a collector': {
    files: 'pages/collectors/collectors.tsx',
    path: '/collectors',
    open: press(/^Revoke /),
  },
  'add a destination': {
    files: 'pages/notifications/form/destination-form.tsx',
    path: '/notifications?add=webhook',
  },
  'change a destination': {
    files: 'pages/notifications/form/destination-form.tsx',
    path: '/notifications/$hook',
    open: press('Change…'),
  },
  'rotate a secret': {
    files: 'pages/notifications/step-dialogs.tsx',
    path: '/notifications/$hook',
    open: press('Rotate secret…'),
  },
  'enable a destination': {
    files: 'pages/notifications/step-dialogs.tsx',
    path: '/notifications/$off',
    open: press('Enable…'),
  },
  'remove a destination': {
    files: 'pages/notifications/step-dialogs.tsx',
    path: '/notifications/$hook',
    open: press('Remove…'),
  },
  'send a range again': {
    files: 'pages/notifications/deliveries/resend-range.tsx',
    path: '/notifications/$hook',
    open: press('Send a range again…'),
  },
  'edit a connection': {
    files: 'pages/connection/edit-dialog.tsx',
    path: '/connections/$connection?tab=settings&edit=settings',
  },
  'remove a connection': {
    files: 'pages/connection/remove-dialog.tsx',
    path: '/connections/$connection?tab=settings',
    open: press('Remove'),
  },
  'replace a heartbeat URL': {
    files: 'pages/connection/backups.tsx',
    path: '/connections/$connection?tab=settings',
    open: press('Replace heartbeat URL'),
  },
  'thresholds of a connection': {
    files: 'thresholds/check-dialog.tsx',
    path: '/connections/$connection?tab=findings',
    open: press('Edit thresholds'),
  },
  'query texts': {
    files: 'pages/connection/queries/texts-dialog.tsx',
    path: '/connections/$connection?tab=queries',
    open: press(/^(Store|Stop storing) texts$/),
  },
  'thresholds of an account': {
    files: 'thresholds/check-dialog.tsx',
    path: '/thresholds?check=PG_MAX_CONN_HIGH',
  },
  'add an own check': {
    files: 'pages/checks/own-check-form.tsx',
    path: '/checks?add=1',
  },
  'remove an own check': {
    files: 'pages/checks/checks.tsx',
    path: '/checks',
    async open(at) {
      await at.getByRole('button', { name: 'Actions for Queue' }).click();
      await at.getByRole('menuitem', { name: 'Remove…' }).click();
    },
  },
  'add a rule': {
    files: 'pages/alerts/rules/rule-form.tsx',
    path: '/alerts?view=rules',
    open: press('Add rule'),
  },
  'remove a rule': {
    files: 'pages/alerts/rules/alert-rule-list.tsx',
    path: '/alerts?view=rules',
    open: (at) =>
      at
        .getByRole('button', { name: /^Remove/ })
        .first()
        .click(),
  },
  'add a window': {
    files: 'pages/alerts/maintenance/window-form.tsx',
    path: '/alerts?view=maintenance',
    open: press('Add window'),
  },
  'end a window': {
    files: 'pages/alerts/maintenance/maintenance-windows.tsx',
    path: '/alerts?view=maintenance',
    open: (at) => at.getByRole('button', { name: /^End/ }).first().click(),
  },
  'acknowledge an alert': {
    files: 'pages/alerts/acknowledge-dialog.tsx',
    path: '/alerts?alert=$alert',
    open: press(/^Acknowledge/),
  },
  'remove a comment': {
    files: 'pages/tickets/comments/ticket-comments.tsx',
    path: '/tickets?ticket=$ticket',
    open: (at) =>
      at
        .getByRole('button', { name: /^Remove .*comment$/ })
        .first()
        .click(),
  },
  'sign out a session': {
    files: 'pages/sessions/session-list.tsx',
    path: '/sessions',
    open: (at) =>
      at
        .getByRole('button', { name: /^Sign out / })
        .first()
        .click(),
  },
  'sign out everywhere': {
    files: 'pages/sessions/session-list.tsx',
    path: '/sessions',
    open: press('Sign out everywhere'),
  },
  'remove the sample data': {
    files: 'shell/sample-banner.tsx',
    path: '/fleet',
    open: press('Remove sample data'),
  },
};

/** Forms whose test is elsewhere: on pages in steady-forms and steady-pages, and below. */
const ELSEWHERE = [
  'pages/account/account-name.tsx',
  'pages/add-connection/add-collected.tsx',
  'pages/add-connection/add-connection.tsx',
  'pages/link/link.tsx',
  'pages/sessions/password.tsx',
  'pages/sessions/passkeys.tsx',
  'pages/sign-in/sign-in.tsx',
  'pages/tickets/comments/comment-form.tsx',
  'pages/tickets/snooze-dialog.tsx',
  'shell/reauthenticate.tsx',
  'parts/confirm-request.tsx',
  'parts/dialog.tsx',
  'parts/form.tsx',
];

test('every form and every question of the console is tried', () => {
  const forms = globSync('**/*.tsx', { cwd: SOURCE })
    .filter((file) =>
      /<(FormDialog|Confirm|ConfirmRequest|[Ff]orm)\b/.test(readFileSync(join(SOURCE, file), 'utf8')),
    )
    .filter((file) => !ELSEWHERE.includes(file));
  expect(forms.sort()).toEqual([...new Set(Object.values(DIALOGS).map(({ files }) => files))].sort());
});

const pathOf = ({ path }: Case) => path.replace(/\$(\w+)/g, (_, name: string) => ids[name] ?? name);

/** Opens a dialog with its fields filled. Returns the button that sends it, and how many fields were filled. */
async function openFilled(entry: Case, size: { width: number; height: number }) {
  await page.setViewportSize(size);
  await visit(page, pathOf(entry));
  await entry.open?.(page);
  const dialog = page.locator('.dialog').last();
  await dialog.waitFor();
  const filled = await fillEmpty(dialog);
  return { button: dialog.locator('.dialog-footer button').last(), filled };
}

test.each(Object.entries(DIALOGS))(
  'what the service answers to a dialog moves none of its buttons: %s',
  async (name, entry) => {
    for (const [size, message] of ANSWERS) {
      const { button } = await openFilled(entry, size);
      const dialog = page.locator('.dialog').last();
      await refuse(page, message);
      const buttons = () =>
        page.evaluate(`[...document.querySelectorAll('.dialog-footer button')].map((one) => {
          const { left, top } = one.getBoundingClientRect();
          return [Math.round(left), Math.round(top)];
        })`);
      const before = await buttons();
      await button.click();
      const error = dialog.locator('.inline-error');
      await error.waitFor();
      await button.and(page.locator(':not([aria-disabled])')).waitFor();
      await drawn(page);
      await keepPicture(page, `dialog-${size.width}-${name.replaceAll(' ', '-')}-${message.length}`);
      expect(await buttons(), message).toEqual(before);
      const { y = -1, height = 0 } = (await error.boundingBox()) ?? {};
      expect(y, message).toBeGreaterThanOrEqual(0);
      expect(height, message).toBeGreaterThan(0);
      await page.unroute('**/console/api/**');
    }
  },
);

test.each(Object.entries(DIALOGS))('Escape asks before it drops what was filled in: %s', async (_, entry) => {
  const { filled } = await openFilled(entry, WIDE);
  if (filled === 0) return;
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).waitFor();
  await press('Keep editing')(page);
  await page.getByRole('alertdialog').waitFor({ state: 'detached' });
  expect(await page.locator('.dialog').count()).toBe(1);
});

test('Escape asks before it drops a choice from a list', async () => {
  await visit(page, '/keys?create=1');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /Expires/ })
    .click();
  await page.getByRole('option', { name: 'Never' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard your changes?' }).waitFor();
});

test('a comment that is not sent is still there after Escape closed its ticket', async () => {
  await visit(page, pathOf({ files: '', path: '/tickets?ticket=$ticket' }));
  await page.getByLabel('Comment', { exact: true }).fill('Looks like the backup.');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.locator('.ticket-panel').waitFor({ state: 'detached' });
  await page.goBack();
  await page.locator('.ticket-panel').waitFor();
  expect(await page.getByLabel('Comment', { exact: true }).inputValue()).toBe('Looks like the backup.');
});
