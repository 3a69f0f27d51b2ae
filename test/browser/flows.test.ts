import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeWindows, openWindow, settled, visit, type Window } from './chromium.ts';
import { type ConsoleAccount, createConsoleAccount, type Person } from './console-service.ts';
import { focused } from './keyboard.ts';
import { type SlackLike, startSlackLike } from './slack-like-receiver.ts';
import { PERSON } from './timed-steps.ts';

// Three things that people do most, by pointer and by keyboard: how many actions each takes. The seconds that a practised person
// needs are printed; a machine's own speed decides nothing here.

let service: ConsoleAccount;
let owner: Person;
let slack: SlackLike;
let blocked = 0;
let ticket = 0;
let opened: Window;

beforeAll(async () => {
  slack = await startSlackLike();
  service = await createConsoleAccount({ connections: 6, tickets: 30, activity: 30 });
  owner = await service.owner();
  await service.ask(owner, 'PATCH', '/onboarding', { dismissed: true });
  const { data } = await service.ask<{ data: { id: number; name: string }[] }>(owner, 'GET', '/fleet');
  blocked = data[0]?.id ?? 0;
  const session = (pid: number, state: string) =>
    `{"pid":${pid},"database":"shop","role":"app","application":"checkout","state":"${state}"}`;
  const tree = `[{"at":"${new Date().toISOString()}","root":${session(4711, 'idle in transaction')},"sessions":14,"waits":[
    {"pid":4712,"blockers":[4711],"seconds":40,"lock":"transactionid","relation":"public.orders","session":${session(4712, 'active')}}]}]`;
  await service.statement(`
    delete from blocking_episode where account_id = ${service.accountId};
    update connection set name = 'shop' where account_id = ${service.accountId} and connection_id = ${blocked};
    insert into blocking_episode (account_id, connection_id, began_at, root, seen_at, ended_at, database, role, application,
                                  most_sessions, longest_seconds, lost_seconds, trees)
    values (${service.accountId}, ${blocked}, now() - interval '45 s', '4711/1.5', now(), null, 'shop', 'app', 'checkout', 14, 45, 500, '${tree}');
    insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                        metric_line, remediation, first_seen_at, last_seen_at)
    values (${service.accountId}, ${blocked}, 'PG_BLOCKED_SESSIONS', '', 'shop/app/checkout', 'locks', 'Session that blocks others',
            'critical', 'open', 'Sessions of shop/app/checkout have blocked 14 sessions.', '', now() - interval '2 minutes', now())`);
  const tickets = await service.ask<{ data: { id: number; connection_id: number; title: string }[] }>(
    owner,
    'GET',
    `/tickets?connection_id=${blocked}`,
  );
  ticket = tickets.data.find(({ title }) => title === 'Session that blocks others')?.id ?? 0;
});

afterAll(async () => {
  await closeWindows();
  await slack?.stop();
});

beforeEach(async () => {
  await opened?.close();
  opened = await openWindow(service.origin, owner);
});

/** What a person does to the page, and counts. */
interface Hand {
  readonly actions: number;
  readonly seconds: number;
  /** Presses a button, a link or a choice. */
  press(target: Locator, name: string | RegExp): Promise<void>;
  write(target: Locator, name: string | RegExp, text: string): Promise<void>;
}

class Pointer implements Hand {
  actions = 0;
  seconds = 0;

  async press(target: Locator): Promise<void> {
    this.actions += 1;
    this.seconds += PERSON.think + PERSON.click;
    // A radio button is drawn by its label.
    const label = target.locator('xpath=ancestor::label');
    await ((await label.count()) > 0 ? label : target).click();
  }

  async write(target: Locator, _name: string | RegExp, text: string): Promise<void> {
    await this.press(target);
    this.seconds += text.length * PERSON.key;
    await target.fill(text);
  }
}

/** Counts keys, without those of texts. */
class Keyboard implements Hand {
  actions = 0;
  seconds = 0;
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  async #key(key: string): Promise<void> {
    this.actions += 1;
    this.seconds += PERSON.key;
    await this.#page.keyboard.press(key);
  }

  /** Goes on by Tab, and within a group of choices by the arrow. */
  async #reach(name: string | RegExp): Promise<void> {
    const isThere = (at: string) => (typeof name === 'string' ? at === name : name.test(at));
    this.seconds += PERSON.think;
    for (let stop = 0; stop < 120; stop++) {
      if (isThere(await focused(this.#page))) return;
      await this.#key('Tab');
    }
    throw new Error(`Tab came to no ${name}`);
  }

  async press(target: Locator, name: string | RegExp): Promise<void> {
    await target.waitFor();
    const isRadio = (await target.getAttribute('type')) === 'radio';
    if (!isRadio) {
      await this.#reach(name);
      return this.#key('Enter');
    }
    await this.#reach(/^All connections/);
    for (let choice = 0; choice < 5 && !(await target.isChecked()); choice++) await this.#key('ArrowDown');
  }

  async write(target: Locator, name: string | RegExp, text: string): Promise<void> {
    await target.waitFor();
    await this.#reach(name);
    this.seconds += text.length * PERSON.key;
    await this.#page.keyboard.type(text);
  }
}

const HANDS = [
  ['pointer', () => new Pointer(), { slack: 6, blocks: 1, raise: 7 }],
  ['keyboard', () => new Keyboard(opened.page), { slack: 55, blocks: 5, raise: 60 }],
] as const;

describe.each(HANDS)('by %s', (way, makeHand, most) => {
  const judge = (flow: keyof typeof most, { actions, seconds }: Hand) => {
    console.log(`${flow}, by ${way}: ${actions} actions, ${seconds.toFixed(1)} s of a practised person`);
    expect(actions).toBeLessThanOrEqual(most[flow]);
    expect(opened.complaints).toEqual([]);
  };

  test('told on Slack: a destination is added, and gets what is open already', async () => {
    const { page } = opened;
    const hand = makeHand();
    slack.received.length = 0;
    await visit(page, '/fleet');
    await hand.press(page.getByRole('link', { name: 'Notifications' }), 'Notifications');
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    await settled(page);
    const first = page.locator('.channel-card, .destination-list, .table-item').first();
    await first.waitFor();
    const add = page.getByRole('button', { name: 'Add destination' });
    if (await add.isVisible()) await hand.press(add, 'Add destination');
    await hand.press(page.getByRole('link', { name: /^Slack/ }).last(), /^Slack(?! \d)/);
    await hand.write(page.getByLabel('Webhook URL', { exact: true }), 'Webhook URL', slack.url);
    await hand.press(page.getByRole('button', { name: 'Add and send test' }), 'Add and send test');
    await page.getByText('The test message is now in Slack.').waitFor();
    const send = page.getByRole('button', { name: /^Send the \d+ open tickets now$/ });
    await hand.press(send, /^Send the \d+ open tickets now$/);
    const told = () => slack.received.filter(({ body }) => body.includes('Critical on shop'));
    await expect.poll(() => told().length).toBeGreaterThanOrEqual(1);
    judge('slack', hand);
  });

  test('who blocks the shop: one action after the link of the message', async () => {
    const { page } = opened;
    const hand = makeHand();
    // As a monitor does every few seconds: what nobody saw for minutes is over.
    await service.statement(
      `update blocking_episode set seen_at = now() where account_id = ${service.accountId}`,
    );
    // The link in the message opens the ticket.
    await visit(page, `/tickets?ticket=${ticket}`);
    await page.getByRole('list', { name: 'Blocking tree' }).first().waitFor();
    expect(await page.getByRole('list', { name: 'Blocking tree' }).first().textContent()).toMatch(/4711/);
    const link = page.locator('.panel-content').getByRole('link', { name: 'shop', exact: true });
    await hand.press(link.first(), 'shop');
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
    await page.getByText(/blocks 14 sessions/).waitFor();
    judge('blocks', hand);
  });

  test('a threshold is raised for all of production', async () => {
    const { page } = opened;
    const hand = makeHand();
    await visit(page, '/fleet');
    await hand.press(page.getByRole('link', { name: 'Thresholds' }), 'Thresholds');
    await hand.press(
      page.getByRole('link', { name: 'Session that blocks others' }).first(),
      /^Session that blocks others/,
    );
    const dialog = page.getByRole('dialog');
    await dialog.getByText('All connections use the defaults.').waitFor();
    await hand.press(
      dialog.getByRole('radio', { name: /^Connections with a tag/ }),
      'Connections with a tag',
    );
    await hand.write(dialog.getByLabel('Tag', { exact: true }), 'Tag', 'env:production');
    await hand.write(dialog.getByLabel(/^Warn/).first(), /^Warn/, '60');
    await hand.press(dialog.getByRole('button', { name: 'Save' }), 'Save');
    await page.getByText('Thresholds saved for connections with the tag env:production.').first().waitFor();
    judge('raise', hand);
    await service.ask(owner, 'POST', '/thresholds', {
      tag: 'env:production',
      thresholds: { PG_BLOCKED_SESSIONS: { warning_seconds: null } },
    });
  });
});

test('a person of two accounts switches between them, and sees nothing of the one in the other', async () => {
  const { page } = opened;
  const other = await service.command<{ id: number }>(
    'account',
    'create',
    '--name',
    'Other company',
    '--plan',
    'team',
  );
  await service.command(
    'member',
    'add',
    '--account',
    String(other.id),
    '--name',
    'Ada',
    '--email',
    'ada.two@example.com',
    '--role',
    'owner',
  );
  // As single sign-on does when an invitation is accepted.
  await service.statement(`
    update member set status = 'active', login_id = (select login_id from member where account_id = ${service.accountId} and login_id is not null limit 1)
     where account_id = ${other.id}`);
  await visit(page, '/fleet');
  await page.getByRole('link', { name: 'shop', exact: true }).waitFor();
  await page.getByRole('button', { name: /switch account/ }).click();
  await page.getByRole('menuitem', { name: 'Other company' }).click();
  await page.getByRole('button', { name: /^Other company/ }).waitFor();
  await settled(page);
  await page.getByText('No databases yet').first().waitFor();
  expect(await page.content()).not.toContain('payments');
  await page.goto(`/connections/${blocked}`);
  await page
    .getByText(/not found|No such/i)
    .first()
    .waitFor();
  await page.getByRole('button', { name: /switch account/ }).click();
  await page.getByRole('menuitem', { name: 'Example company' }).click();
  await page.getByRole('link', { name: 'shop', exact: true }).waitFor();
});
