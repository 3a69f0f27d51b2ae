import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findEnvironment, LONGEST_TAG, normalisedTag, tagFilter, tagKey } from './tags.ts';

describe('the form of a tag', () => {
  test.each([
    ['pci', 'pci'],
    ['  Team:Payments ', 'team:payments'],
    ['ENV:Production', 'env:production'],
    ['ｅｎｖ：ｐｒｏｄ', 'env:prod'],
    ['Cafe\u0301', 'café'],
    ['straße:köln', 'straße:köln'],
    ['部署:決済', '部署:決済'],
    ['region:eu-central-1', 'region:eu-central-1'],
    ['k8s.io/name:shop_db', 'k8s.io/name:shop_db'],
    ['a:b:c', 'a:b:c'],
    ['2026', '2026'],
    ['x'.repeat(LONGEST_TAG), 'x'.repeat(LONGEST_TAG)],
  ])('%j is %j', (text, tag) => {
    expect(normalisedTag(text)).toBe(tag);
  });

  test.each([
    '',
    ' ',
    'two words',
    'env:',
    ':value',
    'a,b',
    'a*',
    '-a',
    'a:-b',
    '<b>',
    '"a"',
    "a'",
    'a\\b',
    'a%b',
    'a\u202eb',
    'a\u0000b',
    'a\nb',
    'a\u200bb',
    '\ud800',
    'a?b=c',
    'a&b',
    '#a',
    '@a',
    '🐘',
    '\u0301a',
    'x'.repeat(LONGEST_TAG + 1),
    'ﷺ'.repeat(90),
    'x'.repeat(1_000_000),
    'a$b',
    '{a}',
    '__proto__',
  ])('%# is none', (text) => {
    expect(normalisedTag(text)).toBeNull();
  });

  test('a normalised tag stays as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
        const tag = normalisedTag(text);
        if (tag !== null) expect(normalisedTag(tag)).toBe(tag);
      }),
      { numRuns: 2_000 },
    );
  });
});

test('the key is the part before the first colon, and the environment is the value of env', () => {
  expect(['pci', 'team:shop', 'a:b:c'].map(tagKey)).toEqual(['pci', 'team', 'a']);
  expect(findEnvironment(['envy:x', 'env:production', 'pci'])).toBe('production');
  expect(findEnvironment(['environment:x', 'production'])).toBeNull();
});

test.each([
  [[], [], true],
  [[], ['pci'], true],
  [['pci'], [], false],
  [['pci'], ['pci', 'env:test'], true],
  [['pci', 'gdpr'], ['pci'], false],
  [['env:test', 'env:staging'], ['env:staging'], true],
  [['env:test', 'env:staging', 'team:shop'], ['env:staging'], false],
  [['env:test', 'env:staging', 'team:shop'], ['env:staging', 'team:shop'], true],
  [['env:test'], ['env:testing'], false],
])('%j on %j: %s', (filter, tags, passes) => {
  expect(tagFilter(filter)(tags)).toBe(passes);
});

test('a long filter costs no more than the tags of a connection', () => {
  const passes = tagFilter([...Array.from({ length: 998 }, (_, n) => `label${n}`), 'a:b']);
  const tags = Array.from({ length: 20 }, (_, n) => `label${n}`);
  let looked = 0;
  const counted = new Proxy(tags, {
    get(target, name) {
      if (name === 'some') looked += 1;
      return Reflect.get(target, name, target);
    },
  });
  expect(passes(counted)).toBe(false);
  expect(looked).toBe(21);
});
