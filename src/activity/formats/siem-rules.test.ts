import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACTION_TYPES, type ActionType, CATALOGUE } from '../catalogue/catalogue.ts';
import { exampleEntry } from '../catalogue/example-fixture.ts';
import { formatEntry } from './format.ts';
import type { ShownEntry } from './shown-entry.ts';

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

test('the job of a rule that Elastic ships reads failed sign-ins, and no other entries', () => {
  // elastic/kibana, ml modules, security_auth: datafeed_auth_high_count_logon_fails.
  const terms = [
    ['event.category', 'authentication'],
    ['event.outcome', 'failure'],
  ] as const;
  expect(typesWith(terms, 'ecs')).toEqual(['member_sign_in_failed']);
});

const parser = readFileSync(
  new URL('../../../docs/integrations/sentinel/asim-authentication.kql', import.meta.url),
  'utf8',
);

/** The types in the list behind these words of the parser. */
function typesIn(words: string): string[] {
  const [, list = ''] = new RegExp(`${words} in \\(([^)]*)\\)`).exec(parser) ?? [];
  return [...list.matchAll(/"(\w+)"/g)].map(([, type = '']) => type).toSorted();
}

/** A row of the parser, as ASIM names its columns. */
function toAsim({ action_type, properties }: ShownEntry): Record<string, string> {
  const column = (name: string) => {
    const [, property = ''] = new RegExp(`\\b${name} = tostring\\(Properties\\.(\\w+)\\)`).exec(parser) ?? [];
    expect(property, name).not.toBe('');
    return String(properties[property] ?? '');
  };
  const isFailure = typesIn('EventResult = iff\\(ActionType').includes(action_type);
  return {
    EventResult: isFailure ? 'Failure' : 'Success',
    TargetUserId: column('TargetUserId'),
    TargetUsername: column('TargetUsername'),
    SrcDvcIpAddr: column('SrcDvcIpAddr'),
  };
}

test('the parser for Sentinel has all kinds of signing in and out, and whether they failed', () => {
  const kinds = (activities: readonly string[]) =>
    ACTION_TYPES.filter(
      (type) => CATALOGUE[type].group === 'sign_in' && activities.includes(CATALOGUE[type].activity),
    );
  expect(typesIn('where ActionType')).toEqual(kinds(['logon', 'logoff']));
  expect(typesIn('EventType = iff\\(ActionType')).toEqual(kinds(['logon']));
  const failures = kinds(['logon', 'logoff']).filter((type) => CATALOGUE[type].outcome === 'failure');
  expect(typesIn('EventResult = iff\\(ActionType')).toEqual(failures);
});

test('a rule that Sentinel ships finds the member whose password was tried', () => {
  const entries = (type: ActionType, count: number, id: number, name: string) =>
    Array.from({ length: count }, () => {
      const entry = exampleEntry(type);
      return { ...entry, properties: { ...entry.properties, member_id: id, name } };
    });
  const log = [
    ...entries('member_sign_in_failed', 10, 3, 'Ada'),
    ...entries('member_signed_in', 1, 3, 'Ada'),
    ...entries('member_sign_in_failed', 9, 4, 'Bob'),
    ...entries('member_signed_in', 1, 4, 'Bob'),
    ...entries('member_sign_in_failed', 20, 5, 'Cy'),
  ];
  // Azure/Azure-Sentinel, imAuthBruteForce.yaml: ten failures and a success of a user, here all within its 20 minutes.
  const byUser = Map.groupBy(log.map(toAsim), (row) => `${row['TargetUserId']} ${row['TargetUsername']}`);
  const found = [...byUser].filter(([, rows]) => {
    const count = (result: string) => rows.filter(({ EventResult }) => EventResult === result).length;
    return count('Failure') >= 10 && count('Success') >= 1;
  });
  expect(found.map(([user]) => user)).toEqual(['3 Ada']);
  expect(found.flatMap(([, rows]) => rows).every((row) => row['SrcDvcIpAddr'] === '192.0.2.7')).toBe(true);
});
