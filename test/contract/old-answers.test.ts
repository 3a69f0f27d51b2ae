import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fillAccount, makeAccount } from './account.ts';
import { ask, read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import type { Connection, List } from './records.ts';

// The eight answers of the first version, without a parameter that came later: the bytes of the frozen document's examples but for the values.

interface Document {
  paths: Record<
    string,
    { get: { responses: { 200: { content: { 'application/json': { example: unknown } } } } } }
  >;
}

const FROZEN: Document = JSON.parse(readFileSync(new URL('openapi-v1.frozen.json', import.meta.url), 'utf8'));

/** The account of the examples: a log whose latest entries are requests, tickets, a member. */
async function filledAccount() {
  const account = await makeAccount();
  await fillAccount(account.id, { connections: 3, tickets: 20, activity: 0 });
  const add = ['member', 'add', '--account', String(account.id), '--role', 'viewer'];
  await fixtureJson([...add, '--name', 'Ada', '--email', 'ada@example.com']);
  const { data } = await read<List<Connection>>('/api/v1/health/connections', account.key);
  return { ...account, connectionId: data.find(({ latest_check_id }) => latest_check_id)?.id };
}

/** The names of a JSON text in their order, without the values. Items of a list that are alike count once. What a client asked is its own. */
function describeForm(text: string): string {
  const form = (value: unknown): string => {
    if (Array.isArray(value)) return `[${[...new Set(value.map(form))].sort().join('|')}]`;
    if (typeof value !== 'object' || value === null) return '';
    const fields = Object.entries(value).map(([name, each]) => name + (name === 'query' ? '' : form(each)));
    return `{${fields.join(',')}}`;
  };
  return form(JSON.parse(text));
}

test('the eight answers have the names of the frozen document in their order, and no byte besides', async () => {
  const { key, connectionId } = await filledAccount();
  const paths = Object.keys(FROZEN.paths);
  expect(paths).toHaveLength(8);
  for (const path of paths) {
    const asked = path.replace('{id}', String(connectionId));
    const many = /connections$|tickets$|activity$/.test(path) ? '?per_page=2' : '';
    const { status, text } = await ask(asked + many, { key });
    expect([path, status]).toEqual([path, 200]);
    const example = JSON.stringify(
      FROZEN.paths[path]?.get.responses[200].content['application/json'].example,
    );
    expect([path, describeForm(text)]).toEqual([path, describeForm(example)]);
    // Nothing between the tokens, and each number and text as JSON.stringify writes it.
    expect([path, text]).toEqual([path, JSON.stringify(JSON.parse(text))]);
    const times = text.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? [];
    for (const time of times) expect([path, time]).toEqual([path, expect.stringMatching(/\.\d{3}Z"$/)]);
  }
});
