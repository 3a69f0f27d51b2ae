import fc from 'fast-check';
import { expect, test } from 'vitest';
import { problemsOf, VENDOR_NAMES } from '../../../test/receivers/vendor-schemas.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import { EVENT_KINDS } from '../../vocabulary/event-kinds.ts';
import { PAGE_LINKS, type PageLink } from '../../vocabulary/page-paths.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { Envelope, MessageEvent } from './channel.ts';
import { FORMATS } from './formats.ts';
import { CONTEXT, exampleDestination, exampleEvent } from './message-event-fixture.ts';

const RUNS = { numRuns: 30 };

/** Texts that mean something to a channel, a mail server or a reader's eyes. */
const ATTACKS = [
  '<!channel>',
  '<!here>',
  '<@U123>',
  '<https://evil.example|Open in dbvitals>',
  '@here',
  '@channel',
  '@all',
  '@everyone',
  '<@&99>',
  '<@99>',
  '<#1>',
  '[Open](https://evil.example)',
  '![x](https://evil.example/i.png)',
  'https://evil.example/x',
  'http://evil.example',
  'www.evil.example',
  '```\n@all\n```',
  '`',
  '``',
  '````',
  '~~~',
  '~~~~',
  '# heading',
  '> quote',
  '- item',
  '1. item',
  '| a | b |',
  '**bold**',
  '__u__',
  '||spoiler||',
  ':smile:',
  '\\',
  '\\`',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onclick='x",
  '&lt;b&gt;',
  '<!--unsubscribe-->',
  '</pre>',
  'a\r\nBcc: victim@evil.example',
  'a\nSubject: x',
  '=?utf-8?B?aGk=?=',
  '=?utf-8?Q?=0D=0ABcc:x?=',
  '\u202Egnp.exe',
  '\u2066x\u2069',
  '\0',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\u200b',
  '\ud800',
  '\udc00x',
  '🐘',
  '👩‍👩‍👧‍👦',
  'é'.normalize('NFD'),
  '{{DATE(2017-02-14T06:08:39Z,SHORT)}}',
  '{"a":1}',
  'Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢',
  '$$',
  '%0A',
  '<t:0>',
  '</cmd:1>',
  '\t',
];

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ATTACKS) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
);
const short = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(' '));
const long = fc
  .tuple(short, fc.integer({ min: 1, max: 2_000 }))
  .map(([text, times]) => text.repeat(times).slice(0, 20_000));
const hostile = fc.oneof({ weight: 4, arbitrary: short }, { weight: 1, arbitrary: long });

const hostilePath = fc.constantFrom(PAGE_LINKS.ticket(31), '/x)|>"\' y@[a](b)' as PageLink);
const hostileDigest = fc.record({
  title: hostile,
  summary: fc.array(hostile, { minLength: 2, maxLength: 2 }),
  parts: fc.array(
    fc.record({
      heading: fc.constantFrom('Opened', 'Still open (the first 4 of 9)'),
      lines: fc.array(fc.record({ text: hostile, path: hostilePath }), { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 7 },
  ),
});

const hostileEvent: fc.Arbitrary<MessageEvent> = fc
  .record({
    kind: fc.constantFrom(...EVENT_KINDS),
    severity: fc.constantFrom(...SEVERITIES, null),
    changes: fc.array(hostile, { maxLength: 15 }),
    about: fc.constantFrom('alert', 'ticket', 'none'),
    details: fc.record({
      connection: fc.option(
        fc.record({
          id: fc.nat(),
          name: hostile,
          host: hostile,
          port: fc.nat(65_535),
          connection_type: hostile,
        }),
      ),
      title: hostile,
      check_id: fc.option(hostile),
      database: hostile,
      object: fc.option(hostile),
      metric_line: fc.option(hostile),
      measured: fc.option(
        fc.record({
          metric: hostile,
          operator: hostile,
          threshold: fc.double({ noNaN: true }),
          value: fc.double(),
        }),
      ),
      since: fc.constantFrom(null, '2026-03-01T00:00:00.000Z'),
      remediation: fc.option(hostile),
      resolution: fc.option(hostile),
      // Nothing makes the last one. An address would be escaped all the same.
      digest: fc.option(hostileDigest),
      page: fc.constantFrom(PAGE_LINKS.alert(7), PAGE_LINKS.ticket(31), '/x)|>"\' y@[a](b)' as PageLink),
    }),
  })
  .map(({ about, details: { digest, ...details }, ...event }) =>
    exampleEvent({
      ...event,
      details: { ...details, ...(digest && { digest }) },
      alert_id: about === 'alert' ? 7 : null,
      ticket_id: about === 'ticket' ? 31 : null,
    }),
  );

const hostileContext = hostile.map((account) => ({ ...CONTEXT, account }));
const ENVELOPE: Omit<Envelope, 'body' | 'contentType'> = {
  eventId: 'evt_1',
  epoch: 'e1',
  sequence: 1,
  at: 1_772_446_500,
};

/** What is sent of hostile events: one to eight, or one where the channel takes no more. */
async function sent(
  channel: Channel,
  check: (body: string, events: readonly MessageEvent[]) => void,
): Promise<void> {
  const { makeMessage, mostEvents, request } = FORMATS[channel];
  if (makeMessage === null) throw new Error(`${channel} makes no messages.`);
  const events = fc.array(hostileEvent, { minLength: 1, maxLength: Math.min(8, mostEvents) });
  await fc.assert(
    fc.asyncProperty(events, hostileContext, async (several, context) => {
      const destination = exampleDestination({
        channel,
        secrets: { url: 'https://hooks.example.com/x', routingKey: 'k'.repeat(32) },
        recipients: [{ email: 'on-call@example.com', token: 'token' }],
      });
      const made = await request(destination, { ...ENVELOPE, ...makeMessage(several, context) });
      check(made.protocol === 'smtp' ? JSON.stringify(made.messages) : made.body, several);
    }),
    RUNS,
  );
}

/** All strings in a JSON value. */
function stringsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(stringsOf) : [];
}

const CHANNELS = [...VENDOR_NAMES, 'alertmanager', 'email'] as const;

test.each(CHANNELS)(
  '%s: hostile texts keep the format, its limits, and whole printable characters',
  async (channel) => {
    await sent(channel, (body) => {
      const vendor = VENDOR_NAMES.find((name) => name === channel);
      if (vendor) expect(problemsOf(vendor, body)).toEqual([]);
      for (const text of stringsOf(JSON.parse(body))) {
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toMatch(/(?!\n)\p{Cc}|[\u2028\u2029\ufeff\p{Bidi_Control}]/u);
      }
    });
  },
);

test('Slack: the only markup is links to the console, and no code block is left open', async () => {
  await sent('slack', (body) => {
    for (const text of stringsOf(JSON.parse(body))) {
      const links = [...text.matchAll(/<([^|>]*)\|?/g)].map(([, target = '']) => target);
      expect(links.filter((target) => !target.startsWith('https://dbvitals.example.com/'))).toEqual([]);
      expect([0, 2]).toContain(text.split('```').length - 1);
    }
  });
});

/** What Markdown would make of a text beside our own links, bold names and code. */
function withoutOurs(markdown: string): string {
  return markdown
    .replace(/\n```\n[\s\S]*?\n```(?=\n|$)/g, '')
    .replaceAll(/\\[\\`*_{}[\]()#+\-.!|>~]/g, '')
    .replaceAll(/\]\(https:\/\/dbvitals\.example\.com\/[^()<>|"'\s]*\)/g, ']')
    .replaceAll(/^- |\*\*|\[|\]/gm, '');
}

test.each(['mattermost', 'discord'] as const)(
  '%s: no mention, link, image or code but ours',
  async (channel) => {
    await sent(channel, (body) => {
      const message = JSON.parse(body);
      for (const part of [message, ...(message.attachments ?? message.embeds)]) {
        const texts = [part.text, part.description, part.content].filter((one) => typeof one === 'string');
        for (const text of texts.map(withoutOurs)) {
          expect(text).not.toMatch(/[`*_[\]()#!|>~\\]/);
          expect(text).not.toMatch(/@\w|<[\w@#!:/]|:\/\//);
        }
      }
      for (const text of stringsOf(message).filter(
        (one) => !one.startsWith('https://dbvitals.example.com'),
      )) {
        expect(text.replaceAll(/```\n[\s\S]*?\n```/g, '')).not.toMatch(/@(?:all|everyone|here|channel)/);
      }
    });
  },
);

test('Teams: every text is a run, so there is no Markdown; and no date function', async () => {
  await sent('teams', (body) => {
    const [{ content }] = JSON.parse(body).attachments;
    expect(content.actions[0].url).toMatch(/^https:\/\/dbvitals\.example\.com\//);
    expect(body).not.toContain('{{DATE');
    expect(JSON.stringify(content.body)).not.toContain('"type":"TextBlock"');
  });
});

test('e-mail: one line of subject, no encoded word, no tag but ours, and both parts are whole', async () => {
  await sent('email', (body) => {
    const [{ subject, text, html, headers }] = JSON.parse(body);
    expect(subject).not.toMatch(/[\r\n]|=\?/);
    expect(subject.length).toBeLessThanOrEqual(200);
    for (const value of Object.values(headers)) expect(value).toMatch(/^[\x20-\x7e]*$/);
    const tags = [...html.matchAll(/<\/?([a-z0-9!-]*)/gi)].map(([, name = '']) => name);
    const ours = '!doctype html head meta title body h1 h2 h3 p a b hr br ul li table tr td pre'.split(' ');
    expect(tags.filter((name) => !ours.includes(name))).toEqual([]);
    expect(html).not.toMatch(/<[^>]*\bon\w+=/);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, url = '']) => url);
    expect(links.filter((url) => !url.startsWith('https://dbvitals.example.com/'))).toEqual([]);
    expect(html.match(/>Unsubscribe</g)).toHaveLength(1);
    expect(text).toMatch(/\nUnsubscribe: https:\/\/dbvitals\.example\.com\/email\/token\n$/);
  });
});

test('Alertmanager: labels are as its API takes them, and stay the same while texts change', async () => {
  await sent('alertmanager', (body, [event]) => {
    for (const alert of JSON.parse(body)) {
      for (const name of Object.keys(alert.labels)) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_]*$/);
      for (const label of Object.values(alert.labels)) expect(label).toMatch(/^.{1,2000}$/u);
      expect(Date.parse(alert.startsAt)).toBeLessThanOrEqual(Date.parse(alert.endsAt));
      if (event?.alert_id === 7) expect(alert.labels.dbvitals_id).toBe('dbvitals.example.com/alert/7');
    }
  });
});
