import { expect, test } from 'vitest';
import { problemsOf, VENDOR_NAMES } from '../../../test/receivers/vendor-schemas.ts';
import type { MessageEvent } from '../channels/channel.ts';
import { FORMATS } from '../channels/formats.ts';
import { CONTEXT, exampleDestination, exampleEvent } from '../channels/message-event-fixture.ts';

// Texts that are longer for a receiver than for JavaScript: as UTF-8, as JSON, as its own escapes.
const TEXTS = {
  Cyrillic: 'Таблица содержит много мёртвых строк ',
  Japanese: '不要な行が多いテーブルです',
  emoji: '🐘🔥',
  quotes: '"shop"."Order\\Items" ',
  'marks of HTML': "<a href='x'>&amp;</a> ",
  'marks of Markdown': '*_`[]()#+-.!|~>\\ ',
};

const SECRETS = { url: 'https://hooks.example.com/x', routingKey: 'k'.repeat(32) };
const SENT_AT = { eventId: 'evt_1', epoch: 'e1', sequence: 1, at: 1_772_446_500 };

function eventsOf(text: string, count: number): MessageEvent[] {
  return Array.from({ length: count }, (_, at) =>
    exampleEvent({
      event_id: `evt_${at}`,
      changes: Array.from({ length: 12 }, () => text.repeat(20)),
      details: {
        title: text.repeat(10),
        object: `${at} ${text.repeat(10)}`,
        metric_line: text.repeat(30),
        remediation: `-- ${text.repeat(60)}`,
      },
    }),
  );
}

test.each(VENDOR_NAMES.flatMap((vendor) => Object.keys(TEXTS).map((text) => ({ vendor, text }))))(
  'a message to $vendor in $text keeps to the limits as the receiver counts them',
  async ({ vendor, text }) => {
    const format = FORMATS[vendor];
    for (const count of [1, 5, 40, 200]) {
      const events = eventsOf(TEXTS[text as keyof typeof TEXTS], Math.min(count, format.mostEvents));
      const made = format.makeMessage?.(events, CONTEXT) ?? { contentType: '', body: '' };
      const sent = await format.request(exampleDestination({ channel: vendor, secrets: SECRETS }), {
        ...SENT_AT,
        ...made,
      });
      expect(problemsOf(vendor, sent.protocol === 'http' ? sent.body : ''), `${count} events`).toEqual([]);
    }
  },
);

test.each(['slack', 'mattermost', 'teams', 'discord', 'email'] as const)(
  'a line for an event of several names its object: %s',
  (channel) => {
    const events = Array.from({ length: 30 }, (_, at) =>
      exampleEvent({ event_id: `evt_${at}`, details: { object: `public.table${at}`, remediation: null } }),
    );
    const { body = '' } = FORMATS[channel].makeMessage?.(events, CONTEXT) ?? {};
    const named = new Set(body.replace(/\\/g, '').match(/\(shop: public\.table\d+/g));
    expect(named.size).toBeGreaterThanOrEqual(10);
  },
);
