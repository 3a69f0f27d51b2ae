import { expect, test } from 'vitest';
import { requireStrong } from './password-strength.ts';

const about = ['ada.lovelace@example.com', 'Ada Lovelace', 'Analytical Engines Ltd', null];
const refusal = (password: string) =>
  requireStrong(password, about, 'next').then(
    () => null,
    (error: unknown) => error,
  );

test.each([
  ['password1234', 'this one is similar to a common password'],
  ['aaaaaaaaaaaa', 'repeated characters are easy to guess'],
  ['letmeinletmein', 'repeated text is easy to guess'],
  ['123456789012', 'this one is'],
  ['P@ssw0rd2026', 'this one'],
  ['lovelace1815', 'it must not be based on your name'],
  ['ada.lovelace@example.com', 'it must not be based on your name'],
  ['ecalevol.ada', ''],
  ['dbvitals2026', ''],
  ['adalovelace2026!', ''],
  ['analytical-engines-2026', ''],
  ['4n4lyt1c4l3ng1n3s!x', ''],
  ['dbvitals2026!!x', ''],
  ['dbvital2026!!xx', ''],
  ['aaddaa1122!!', ''],
  ['lovelac2026!!ad', ''],
  ['adas-password-2026', ''],
  ['lovelace-mongodb-1', ''],
  ['secalevoladaecalevol#7', ''],
])('%s is refused, because %s', async (password, why) => {
  expect(await refusal(password)).toMatchObject({
    code: 'invalid_parameter',
    parameter: 'next',
    message: expect.stringMatching(
      new RegExp(`^Choose a password that is harder to guess, such as four unrelated words: .*${why}.*\\.$`),
    ),
  });
});

test.each([
  'rhubarb quilt thimble canal',
  'Vb4-tq9Lx.2mZe',
  'ünïcödé pässwörd hält',
  '我的密码是一首很长的诗歌呢',
])('%s is accepted', async (password) => {
  expect(await refusal(password)).toBeNull();
});

test('passwords that are slow to rate are rated, also many at once', async () => {
  const hostile = ['@4(5$13', 'p@$$w0rd1', '1234567890', '1/1/11', '4@8({[<369&#!1/|0$5+7%2xz', '\u{fdfa}'];
  const answers = await Promise.all(hostile.map((text) => refusal(text.repeat(1_000_000 / text.length))));
  for (const answer of answers)
    expect([null, 'invalid_parameter']).toContain((answer as { code?: string } | null)?.code ?? null);
});
