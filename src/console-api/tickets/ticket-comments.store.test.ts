import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { removeMember } from '../../accounts/members/remove-member.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { LONGEST_COMMENT, MOST_COMMENTS } from '../../tickets/triage/comment-row.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { Comment, CommentList } from './ticket-comments.ts';
import type { TicketCounts, TicketPage } from './ticket-list.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let ben: Owner;
let ticket: number;
let other: number;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
});

beforeEach(async () => {
  ada = await console.owner();
  ben = await console.member(ada.accountId, 'Ben Okri', 'operator');
  const connections = [await store.connection(ada.accountId)];
  [ticket = 0, other = 0] = await addTickets(store, ada.accountId, { connections, count: 2 });
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

const say = async (by: Owner, body: string, id = ticket) =>
  (await by.send<Comment>('POST', `/tickets/${id}/comments`, { body }))[1];
const said = async (by = ada, id = ticket) => (await by.read<CommentList>(`/tickets/${id}/comments`)).data;
const mentioned = async (by: Owner) =>
  (await by.read<TicketPage>('/tickets?mentioned=me')).data.map(({ id, comments }) => [id, comments]);
const entries = async () =>
  (
    await store.writer.query(
      `select action_type, page_path, properties from activity where account_id = $1 and action_type like 'ticket_comment%' order by id`,
      [ada.accountId],
    )
  ).rows;

test('a comment is kept as it was typed, and finds the member whom it mentions', async () => {
  const body = '<img src=x onerror=alert(1)> & "50 %"\n\t@ben okri: seen?';
  const comment = await say(ada, `  ${body.replace('\n', '\r\n')}\n`);
  expect(comment).toMatchObject({ author_id: ada.memberId, body, mentions: ['Ben Okri'], removable: true });
  expect(await said(ben)).toEqual([{ ...comment, removable: false }]);
  expect(await mentioned(ben)).toEqual([[ticket, 1]]);
  expect(await mentioned(ada)).toEqual([]);
  const mentions = async (by: Owner) =>
    (await by.read<TicketCounts>('/tickets/counts')).data.filter((row) => row.mentioned);
  expect(await mentions(ben)).toMatchObject([{ count: 1 }]);
  expect(await mentions(ada)).toEqual([]);
  const [entry, ...more] = await entries();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({
    action_type: 'ticket_commented',
    page_path: `/tickets?ticket=${ticket}`,
    properties: {
      ticket_id: ticket,
      comment_id: comment.id,
      actor_member_id: ada.memberId,
      mentions: [{ member_id: ben.memberId, name: 'Ben Okri' }],
    },
  });
  // An entry can't be removed, so it has no text.
  expect(JSON.stringify(entry)).not.toContain('onerror');
});

test('each member of one name is mentioned; suspended, removed and foreign members are not', async () => {
  const eve = await console.member((await console.owner()).accountId, 'Eve', 'operator');
  const [one, two, sam] = [
    await console.member(ada.accountId, 'Kim', 'viewer'),
    await console.member(ada.accountId, 'Other', 'operator'),
    await console.member(ada.accountId, 'Sam', 'operator'),
  ];
  await store.writer.query(`update member set name = 'Kim' where member_id = $1`, [two.memberId]);
  await store.writer.query(`update member set status = 'suspended' where member_id = $1`, [sam.memberId]);
  expect((await say(ada, '@Kim @Eve @Sam')).mentions).toEqual(['Kim', 'Kim']);
  expect(await mentioned(one)).toEqual([[ticket, 1]]);
  expect(await mentioned(two)).toEqual([[ticket, 1]]);
  expect(await mentioned(eve)).toEqual([]);
  await changeAccount(store.writer, ada.accountId, (change) => removeMember(change, two.memberId));
  expect((await said()).map(({ mentions }) => mentions)).toEqual([['Kim']]);
});

test('a comment outlives its author, with the name', async () => {
  await say(ben, 'mine');
  await changeAccount(store.writer, ada.accountId, (change) => removeMember(change, ben.memberId));
  expect(await said()).toMatchObject([{ author: 'Ben Okri', body: 'mine' }]);
});

test('its author removes a comment, or who manages members; for good', async () => {
  const [first, second, third] = [await say(ada, 'one'), await say(ben, 'two'), await say(ben, 'three')];
  const remove = async (by: Owner, { id }: Comment) =>
    (await by.send<object>('DELETE', `/ticket-comments/${id}`))[0];
  expect(await remove(ben, first)).toBe(403);
  expect(await remove(ben, second)).toBe(204);
  expect(await remove(ada, third)).toBe(204);
  expect(await remove(ada, third)).toBe(404);
  expect((await said()).map(({ body }) => body)).toEqual(['one']);
  const { rows } = await store.writer.query('select body from ticket_comment where account_id = $1', [
    ada.accountId,
  ]);
  expect(rows).toEqual([{ body: 'one' }]);
  expect((await entries()).at(-1)).toMatchObject({
    action_type: 'ticket_comment_removed',
    properties: { ticket_id: ticket, comment_id: third.id, written_by: 'Ben Okri' },
  });
});

test('another account’s comments do not exist, and a viewer only reads', async () => {
  const comment = await say(ada, 'ours');
  const eve = await console.owner();
  const vera = await console.member(ada.accountId, 'Vera', 'viewer');
  expect((await eve.refused(`/tickets/${ticket}/comments`))[0]).toBe(404);
  expect(await eve.send('POST', `/tickets/${ticket}/comments`, { body: 'theirs' })).toMatchObject([404, {}]);
  expect(await eve.send('DELETE', `/ticket-comments/${comment.id}`)).toMatchObject([404, {}]);
  expect(await vera.send('POST', `/tickets/${ticket}/comments`, { body: 'x' })).toMatchObject([403, {}]);
  expect(await vera.send('DELETE', `/ticket-comments/${comment.id}`)).toMatchObject([403, {}]);
  expect(await said(vera)).toMatchObject([{ body: 'ours', removable: false }]);
});

describe('400', () => {
  test.each([
    ['nothing', ''],
    ['blanks', ' \n\t '],
    ['only what is not shown', '\u0000\u001b\u2028'],
    ['one character too many', 'x'.repeat(LONGEST_COMMENT + 1)],
    ['far too many', 'x'.repeat(3 * LONGEST_COMMENT)],
  ])('%s', async (_, body) => {
    expect(await ada.send('POST', `/tickets/${ticket}/comments`, { body })).toMatchObject([
      400,
      { error: { message: 'Enter a comment of 1 to 4,000 characters.', parameter: 'body' } },
    ]);
    expect(await said()).toEqual([]);
  });

  test('of a lone surrogate and control characters the text is left', async () => {
    expect((await say(ada, 'a\ud800b\u0000c\u001b[31m')).body).toBe('a\ufffdbc[31m');
    expect((await say(ada, 'x'.repeat(LONGEST_COMMENT))).body).toHaveLength(LONGEST_COMMENT);
  });
});

test('a ticket has at most 500 comments', async () => {
  await store.writer.query(
    `insert into ticket_comment (account_id, ticket_id, author, body, created_at)
     select $1, $2, 'Ada', 'n' || n, now() from generate_series(1, $3::int) n`,
    [ada.accountId, ticket, MOST_COMMENTS],
  );
  expect(await ada.send('POST', `/tickets/${ticket}/comments`, { body: 'one more' })).toMatchObject([
    409,
    { error: { message: 'A ticket has at most 500 comments: remove some first.' } },
  ]);
  expect(await said()).toHaveLength(MOST_COMMENTS);
  expect((await say(ada, 'elsewhere', other)).body).toBe('elsewhere');
});

test('a comment raises no generation, so answers of the API are kept', async () => {
  const generation = async () =>
    (await store.writer.query('select generation from account where account_id = $1', [ada.accountId])).rows;
  const before = await generation();
  await say(ada, '@Ben Okri');
  expect(await generation()).toEqual(before);
});
