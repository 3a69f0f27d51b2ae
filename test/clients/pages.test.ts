import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

// Requirements for every page of docs/integrations/.

const FOLDER = 'docs/integrations';
const PLANS = { 'Team 30': 30, 'Business 60': 60, 'Enterprise 100': 100 };
/** An assistant polls nothing: its table shows the requests of one question. */
const COST_HEAD = RegExp(
  `\\| query \\| every \\| (?:per minute|requests) \\| ${Object.keys(PLANS).join(' \\| ')} \\|\n(?:\\| --- ){6}\\|\n`,
);
/** A mapping and a guide to other pages are no clients and send no requests. */
const NO_CLIENT = ['README.md', 'ocsf-and-ecs.md', 'siem.md'];

const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const pages = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
const clients = pages.filter((name) => !NO_CLIENT.includes(name));
const mark = (text: string) => /^\*\*(Tested|From documentation)\*\*: \S/m.exec(text)?.[1]?.toLowerCase();
const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, { get: { parameters?: { name?: string }[] } }>;
};

test('the pages exist', () => {
  expect(clients.length).toBeGreaterThan(5);
});

test.each(clients)('%s has a mark that matches its row in the index', (name) => {
  const marked = mark(read(name));
  expect(marked).toBeDefined();
  const row = read('README.md')
    .split('\n')
    .find((line) => line.includes(`](${name})`));
  expect(row).toMatch(RegExp(`\\| ${marked}(?:,[^|]+)? \\|`));
});

test.each(clients)('%s shows the cost of a poll for each plan', (name) => {
  const [, table = ''] = read(name).split(COST_HEAD);
  const rows = table
    .slice(0, table.search(/^(?!\|)|$(?![\s\S])/m))
    .trim()
    .split('\n');
  for (const row of rows) {
    const [, asks = '', , perMinute = '', ...shares] = row.split('|').map((cell) => cell.trim());
    expect(asks, row).not.toBe('');
    const cost = Number(perMinute);
    expect(cost, row).toBeGreaterThan(0);
    Object.values(PLANS).forEach((limit, at) => {
      // The plan lacks the endpoint.
      if (shares[at] !== '–') expect(shares[at], row).toBe(`${Math.round((cost / limit) * 100)} %`);
    });
  }
});

test.each(pages)('the links of %s work', (name) => {
  for (const [, target = ''] of read(name).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)) {
    expect(existsSync(join(FOLDER, dirname(name), target)), target).toBe(true);
  }
});

// Lists whose pages follow one another. A block of shell that reads one page of them would leave out rows without a word.
const LISTS =
  /\/api\/v1\/(?:health\/(?:connections(?:\/\d+\/measures)?|measures|changes)|ops\/(?:tickets|alerts)|activity)\?[^" ]*/g;

test.each(clients)('a block of %s that reads one page of a list says how many rows it has', (name) => {
  const paragraphs = read(name).split(/\n\n+/);
  for (const [at, block] of paragraphs.entries()) {
    if (!block.startsWith('    ')) continue;
    for (const [asked] of block.matchAll(LISTS)) {
      expect(asked, 'a page of its longest').toContain('per_page=100');
      expect(paragraphs[at - 1], asked).toMatch(/\b(?:first|latest) 100\b/);
    }
  }
});

const files = globSync(`${FOLDER}/*/**/*`, { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));

test.each(files)('a page shows %s', (file) => {
  const path = file.slice(FOLDER.length + 1);
  expect(pages.filter((name) => read(name).includes(`](${path})`))).not.toEqual([]);
});

test.each([...files, ...pages.map((name) => join(FOLDER, name))])(
  '%s uses only endpoints and parameters of the API',
  (file) => {
    for (const [asked, parameter] of askedIn(readFileSync(file, 'utf8'))) {
      const path = Object.keys(paths).find((known) =>
        RegExp(`^${known.replace(/\{\w+\}/g, '[^/?]+')}$`).test(asked),
      );
      expect(path, `no endpoint is ${asked}`).toBeDefined();
      const known = paths[path ?? '']?.get.parameters?.map(({ name }) => name);
      if (parameter !== undefined) expect(known, `${asked}?${parameter}`).toContain(parameter);
    }
  },
);

/** The patterns of parameters outside of URLs. */
const NAMED: [string, RegExp][] = [
  ['elastic-agent/elastic-agent.yml', /^ +"([a-z_]+)": \["?\w/gm],
  ['filebeat/cel.yml', /^ +"([a-z_]+)": \["?\w/gm],
  ['filebeat/httpjson.yml', /url\.params\.(\w+)/g],
  ['grafana/infinity-dashboard.json', /"(?:key|pagination_param_(?:page|size)_field_name)": "(\w+)"/g],
  [
    'grafana/infinity-numbers-dashboard.json',
    /"(?:key|pagination_param_(?:page|size|cursor)_field_name)": "(\w+)"/g,
  ],
  ['sentinel/connection.json', /"nextPageParaName": "(\w+)"/g],
  ['sentinel/connection.json', /"queryParameters": \{ "(\w+)"/g],
  ['sumo-logic/source.json', /"paramName": "(\w+)"/g],
];

test.each(NAMED)('%s uses valid parameters of its endpoints: %s', (file, pattern) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  const known = askedIn(text).flatMap(([asked]) => paths[asked]?.get.parameters?.map(({ name }) => name));
  const named = [...text.matchAll(pattern)].map(([, name]) => name);
  expect(named).not.toEqual([]);
  for (const name of named) expect(known).toContain(name);
});

/** All endpoints in a text, with the parameters in their URLs. */
function askedIn(text: string): [string, string | undefined][] {
  const urls = text.matchAll(
    /(\/api\/v1\/(?:health|ops|activity|team)[^\s"'`?<>)\]|,;\\]*)(?:\?([^\s"'`<>)|]*))?/g,
  );
  return [...urls].flatMap(([, path = '', query = '']) => {
    const asked = path.replace(/[.:]$/, '').replace(/\/$/, '');
    const names = query.split('&').map((pair) => pair.split('=')[0] ?? '');
    const given = names.filter((name) => /^[a-z_]+$/.test(name));
    return (given.length > 0 ? given : [undefined]).map((name): [string, string | undefined] => [
      asked,
      name,
    ]);
  });
}

test.each([
  ['infinity-dashboard.json', 3],
  ['infinity-numbers-dashboard.json', 5],
])('each table of %s says how many rows it has at most', (name, tables) => {
  const text = readFileSync(join(FOLDER, 'grafana', name), 'utf8');
  const { panels }: { panels: { title: string; targets: Record<string, unknown>[] }[] } = JSON.parse(text);
  const paged = panels.filter(({ targets }) => targets.some((target) => 'pagination_mode' in target));
  expect(paged).toHaveLength(tables);
  for (const { title, targets } of paged) {
    const [pages, size] = ['pagination_max_pages', 'pagination_param_size_value'].map((field) =>
      Number(targets[0]?.[field]),
    );
    expect(title).toContain(String((pages ?? 0) * (size ?? 0)));
  }
});

test('the Sentinel connector walks the log by the id of the last row', () => {
  const { properties } = JSON.parse(readFileSync(join(FOLDER, 'sentinel/connection.json'), 'utf8'));
  expect(properties.paging).toMatchObject({
    pagingType: 'PersistentToken',
    nextPageParaName: 'after_id',
    nextPageTokenJsonPath: '$.data[-1:].id',
  });
  expect(properties.request.queryParameters.order).toBe('asc');
  expect(properties.request).not.toHaveProperty('startTimeAttributeName');
});
