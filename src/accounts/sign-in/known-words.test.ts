import { expect, test } from 'vitest';
import { knownWords, withoutKnownWords } from './known-words.ts';

const words = knownWords([
  'ada.lovelace@example.com',
  'Ada Lovelace',
  'Victim Corp',
  'Zoë Ng',
  'Jørgen Strauß',
  'Anna Müller',
  null,
]);

test.each([
  ['adalovelace2026!', ''],
  ['victim-corp-2026', ''],
  ['dbvitals2026!!x', 'x'],
  ['ecalevol.ada', ''],
  ['4d4l0v3l4c3', ''],
  ['V!ct1mC0rp', ''],
  ['a-d-a_l.o.v.e.l.a.c.e', ''],
  ['zoeng', ''],
  ['ZOËNG1999x', 'x'],
  ['adavictimada', ''],
  ['aadada', ''], // what a removal puts together
  ['d b v i t a l s', ''],
  ['postgres-ada-pr0duct10n', ''],
  ['MySQL+mariadb/m0nitoring', ''],
  ['rhubarb ada quilt', 'rhubarbquilt'],
  ['rhubarb quilt', 'rhubarb quilt'],
  ['joergen-strauss26', '26'],
  ['JØRGENstrauß', ''],
  ['mueller2026!!', ''],
  ['muller.annamueller', ''],
  ['aaddaa1122', 'aa1122'], // repeated letters
  ['llovveelaceee9', 'lee9'],
  ['annna', ''],
  ['dbvital2026!!xx', 'xx'], // without the last letter
  ['lovelac2026!!ad', 'ad'],
  ['adas-key-2026', 'skey'],
  ['12026', '12026'], // no year
])('of %s is left “%s”', (password, left) => {
  expect(withoutKnownWords(password, words)).toBe(left);
});

test('a text of 200 characters is taken apart at once', () => {
  const many = knownWords([Array.from({ length: 70 }, (_, at) => `w${at}x`).join(' '), 'a'.repeat(200)]);
  expect(withoutKnownWords('a'.repeat(200), many)).toBe('');
  expect(withoutKnownWords('-'.repeat(200), many)).toBe('-'.repeat(200));
});
