import { expect, test } from 'vitest';
import { makeKeylessAccount } from './account.ts';
import { type SignedIn, signInAs } from './browser.ts';
import { integer } from './records.ts';

interface View {
  id: number;
  name: string;
  query: string;
  is_shared: boolean;
}

const viewsOf = async (member: SignedIn, page = 'fleet') =>
  (await member.get<{ data: View[] }>(`/views?page=${page}`)).data;
const namesOf = async (member: SignedIn) => (await viewsOf(member)).map(({ name }) => name);
const save = (member: SignedIn, name: string, path = '/views') =>
  member.change<View>('POST', path, { page: 'fleet', name, query: 'status=critical&tag=env%3Aproduction' });

test('a member saves, renames and removes views that only they see, and the log keeps their names to itself', async () => {
  const account = await makeKeylessAccount();
  const [viewer, owner] = [await signInAs(account, ['viewer']), await signInAs(account, ['owner'])];
  const view = await save(viewer, '  On call ');
  expect(view).toEqual({
    id: integer,
    page: 'fleet',
    name: 'On call',
    query: 'status=critical&tag=env%3Aproduction',
    is_shared: false,
    created_by: expect.any(String),
  });
  await save(viewer, 'A first');
  expect(await namesOf(viewer)).toEqual(['A first', 'On call']);
  expect(await namesOf(owner)).toEqual([]);
  expect(await viewsOf(viewer, 'tickets')).toEqual([]);
  for (const path of ['/views', '/shared-views']) {
    expect((await owner.ask('PATCH', `${path}/${view.id}`, { name: 'Mine' })).status).toBe(404);
    expect((await owner.ask('DELETE', `${path}/${view.id}`)).status).toBe(404);
  }
  expect(await viewer.change('PATCH', `/views/${view.id}`, { query: '' })).toMatchObject({
    name: 'On call',
    query: '',
  });
  await viewer.change('DELETE', `/views/${view.id}`);
  expect((await viewer.ask('DELETE', `/views/${view.id}`)).status).toBe(404);
  expect(await namesOf(viewer)).toEqual(['A first']);
  const log = (await owner.ask('GET', '/read/activity?per_page=100')).text;
  for (const action of ['added', 'changed', 'removed']) expect(log).toContain(`saved_view_${action}`);
  expect(log).not.toContain('On call');
  expect(log).not.toContain('env%3Aproduction');
});

test('a shared view is everybody’s to see, and belongs to those who may change connections', async () => {
  const account = await makeKeylessAccount();
  const [viewer, operator, admin] = [
    await signInAs(account, ['viewer']),
    await signInAs(account, ['operator']),
    await signInAs(account, ['admin']),
  ];
  const refused = await viewer.ask('POST', '/shared-views', { page: 'fleet', name: 'x', query: '' });
  expect(refused.status).toBe(403);
  const view = await save(operator, 'Production', '/shared-views');
  expect(view.is_shared).toBe(true);
  await save(viewer, 'Production');
  expect((await viewsOf(viewer)).map(({ name, is_shared }) => [name, is_shared])).toEqual([
    ['Production', false],
    ['Production', true],
  ]);
  expect((await viewer.ask('DELETE', `/shared-views/${view.id}`)).status).toBe(403);
  expect((await viewer.ask('PATCH', `/views/${view.id}`, { name: 'x' })).status).toBe(404);
  await admin.change('PATCH', `/shared-views/${view.id}`, { name: 'Live' });
  expect(await namesOf(viewer)).toEqual(['Production', 'Live']);
  // Everybody's filter changed: the log says from what.
  const query = `tags=${encodeURIComponent('é'.repeat(2_000))}`;
  await admin.change('PATCH', `/shared-views/${view.id}`, { query });
  await admin.change('PATCH', `/shared-views/${view.id}`, { query, name: 'Live' });
  const { data } = await admin.get<{ data: { action_type: string; properties: object }[] }>(
    '/read/activity?per_page=100',
  );
  const before = 'status=critical&tag=env%3Aproduction';
  expect(
    data
      .filter(({ action_type }) => action_type === 'saved_view_changed')
      .map(({ properties }) => properties),
  ).toMatchObject([
    { changed: ['query'], from: { name: 'Live', query: before }, to: { name: 'Live', query } },
    { changed: ['name'], from: { name: 'Production', query: before }, to: { name: 'Live', query: before } },
  ]);
});

test("another account's views can't be seen, changed or removed", async () => {
  const [ours, theirs] = [
    await signInAs(await makeKeylessAccount(), ['owner']),
    await signInAs(await makeKeylessAccount(), ['owner']),
  ];
  const own = await save(theirs, 'Own');
  const shared = await save(theirs, 'Shared', '/shared-views');
  expect(await namesOf(ours)).toEqual([]);
  for (const path of [`/views/${own.id}`, `/shared-views/${shared.id}`]) {
    expect((await ours.ask('PATCH', path, { name: 'Taken' })).status).toBe(404);
    expect((await ours.ask('DELETE', path)).status).toBe(404);
  }
  expect(await namesOf(theirs)).toEqual(['Own', 'Shared']);
});

test('a bad view gets a sentence that says what to do', async () => {
  const member = await signInAs(await makeKeylessAccount(), ['operator']);
  const fine = { page: 'fleet', name: 'Fine', query: '' };
  const name = 'Enter a name of 1 to 60 characters.';
  const query = "query must be the query of the page's address, at most 16000 characters.";
  for (const [wrong, message] of [
    [{ page: 'keys' }, 'The value of page is not valid.'],
    ...['', ' ', 'x'.repeat(61), 'a\nb', 'a\u2028b'].map((text) => [{ name: text }, name] as const),
    ...['a b', 'é', '"', '<script>', '#', '\\', 'x'.repeat(16_001)].map(
      (text) => [{ query: text }, query] as const,
    ),
  ] as const) {
    const answer = await member.ask('POST', '/views', { ...fine, ...wrong });
    expect([answer.status, answer.json<{ error: { message: string } }>().error.message]).toEqual([
      400,
      message,
    ]);
  }
  await save(member, 'Twice');
  const again = await member.ask('POST', '/views', { ...fine, name: 'tWICE' });
  expect([again.status, again.json<{ error: { message: string } }>().error.message]).toEqual([
    409,
    'A view with this name already exists. Choose another name.',
  ]);
  for (let at = 1; at < 50; at += 1) await save(member, `View ${at}`);
  const full = await member.ask('POST', '/views', fine);
  expect([full.status, full.json<{ error: { message: string } }>().error.message]).toEqual([
    409,
    'A page has at most 50 views. Remove one first.',
  ]);
  await save(member, 'Another place', '/shared-views');
});

test('the views of a removed member go with them, and those that they shared stay', async () => {
  const account = await makeKeylessAccount();
  const [operator, owner] = [await signInAs(account, ['operator']), await signInAs(account, ['owner'])];
  await save(operator, 'Own');
  await save(operator, 'Shared', '/shared-views');
  const { member } = await operator.get<{ member: { id: number } }>('/me');
  await owner.change('DELETE', `/members/${member.id}`);
  expect(await namesOf(owner)).toEqual(['Shared']);
});
