import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fileLines, startCommand } from './start-command.ts';

test('a name of any characters is one word of the shell', () => {
  const text = startCommand('https://dbvitals.example.com', "o'clock $(reboot)", 'dbv_enrol_1_x');
  expect(text).toContain(`--name 'o'\\''clock $(reboot)' --file`);
  expect(startCommand('https://a', 'frankfurt', 't')).toContain('--name frankfurt --file');
});

test.each(['shop', 'yes', 'a: b', '- x', '"quoted" # no comment', 'ü/../etc'])(
  'a name (%s) is the key of the YAML',
  (name) => {
    const file = parse(fileLines(name, 'postgres'));
    expect(Object.keys(file.connections)).toEqual([name]);
    expect(file.connections[name].password_file).toMatch(/^\/etc\/dbvitals\/[A-Za-z0-9._-]+-password$/);
  },
);

test('the file sends texts of queries only if somebody asked for them', () => {
  const written = (...texts: boolean[]) => parse(fileLines('shop', 'mysql', ...texts)).connections.shop;
  expect(written(true).query_texts).toBe(true);
  expect(written()).not.toHaveProperty('query_texts');
});
