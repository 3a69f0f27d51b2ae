import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACTION_TYPES } from '../catalogue/catalogue.ts';
import { exampleEntry } from '../catalogue/example-fixture.ts';
import { formatEntry } from './format.ts';

const page = readFileSync(new URL('../../../docs/integrations/siem.md', import.meta.url), 'utf8');

/** The conditions of the page's line with this text: each a path and the value that it must have. */
function conditionsIn(text: string, condition: RegExp): [path: string, value: string][] {
  const line = page.split('\n').find((each) => each.startsWith('    ') && each.includes(text)) ?? '';
  return [...line.matchAll(condition)].map(([, path = '', value = '']) => [path, value]);
}

/** The types whose example fulfils the conditions. */
function typesWith(conditions: readonly (readonly [string, string])[], format: 'ecs' | 'ocsf'): string[] {
  return ACTION_TYPES.filter((type) => {
    const formatted: unknown = formatEntry(format, exampleEntry(type), 3);
    return conditions.every(([path, value]) => {
      const found = path
        .split('.')
        .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], formatted);
      return [found].flat().map(String).includes(value);
    });
  });
}

test('the rules for failed sign-ins select these entries, and no others', () => {
  const elastic = conditionsIn('event.dataset:', /([a-z.]+): "([^"]*)"/g);
  expect(elastic).toHaveLength(3);
  expect(typesWith(elastic, 'ecs')).toEqual(['member_sign_in_failed']);
  const splunk = conditionsIn('sourcetype=', /\b([a-z_]+)=(\d+)/g);
  expect(splunk).toHaveLength(3);
  expect(typesWith(splunk, 'ocsf')).toEqual(['member_sign_in_failed']);
  const sentinel = conditionsIn('DbvitalsActivity_CL', /(ActionType) == "([^"]*)"/g);
  expect(sentinel).toEqual([['ActionType', exampleEntry('member_sign_in_failed').action_type]]);
});
