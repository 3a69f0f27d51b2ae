import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { WrittenAccount } from '../configuration-schema.ts';
import { writeExport } from './export-account.ts';

// A name like these is refused today, and may have been stored before that rule.
const NAMES = [
  'shop\u202egpj.exe',
  '\u001b]0;title\u0007',
  'tag\u{e0041}',
  'no\u00a0break',
  'two\nlines',
  'plain',
];

const account = (name: string): WrittenAccount => ({
  name,
  kind: 'company',
  plan: 'business',
  members: [],
  thresholds: {},
  tag_thresholds: { [name]: {} },
  connections: [],
  destinations: [],
  alert_rules: [],
  maintenance: [],
  checks: [],
});

test.each(NAMES.flatMap((name) => [true, false].map((json) => ({ name, json }))))(
  'an export prints $name as a terminal shows it, and the file means the same: JSON $json',
  ({ name, json }) => {
    const text = writeExport(account(name), json);
    expect(text).toMatch(/^[\n\x20-\x7e]*$/);
    expect(parse(text)).toEqual({ accounts: [account(name)] });
    if (name === 'plain') expect(text).not.toContain('\\');
  },
);
