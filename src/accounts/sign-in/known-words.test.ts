import { expect, test } from 'vitest';
import { knownWords, withoutKnownWords } from './known-words.ts';

const words = knownWords(['ada.lovelace@example.com', 'Ada Lovelace', 'Victim Corp', 'Zoë Ng', null]);

test.each([
  ['adalovelace2026!', '!'],
  ['victim-corp-2026', '-'],
  ['dbvitals2026!!x', '!!x'],
  ['ecalevol.ada', ''],
  ['4d4l0v3l4c3', ''],
  ['V!ct1mC0rp', ''],
  ['a-d-a_l.o.v.e.l.a.c.e', ''],
  ['zoeng', ''],
  ['ZOËNG1999x', 'x'],
  ['adavictimada', ''],
  ['aadada', ''], // what a removal puts together
  ['d b v i t a l s', ''],
  ['postgres-ada-pr0duct10n', '--'],
  ['MySQL+mariadb/m0nitoring', '+/'],
  ['rhubarb ada quilt', 'rhubarb  quilt'],
  ['12026', '12026'], // no year
])('of %s is left “%s”', (password, left) => {
  expect(withoutKnownWords(password, words)).toBe(left);
});

test('a text of 200 characters is taken apart at once', () => {
  const many = knownWords([Array.from({ length: 70 }, (_, at) => `w${at}x`).join(' '), 'a'.repeat(200)]);
  expect(withoutKnownWords('a'.repeat(200), many)).toBe('');
  expect(withoutKnownWords('-'.repeat(200), many)).toBe('-'.repeat(200));
});
