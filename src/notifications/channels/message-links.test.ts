import { expect, test } from 'vitest';
import { CHANNELS, GROUPING_CHANNELS, LOG_CHANNELS } from '../../vocabulary/channels.ts';
import { EVENT_KINDS, type EventKind } from '../../vocabulary/event-kinds.ts';
import { PAGE_LINKS, servedPaths } from '../../vocabulary/page-paths.ts';
import { FORMATS } from './formats.ts';
import { CONTEXT, exampleAlert, exampleEvent } from './message-event-fixture.ts';

const SERVED = servedPaths().map((path) => new RegExp(`^${path.replaceAll('*', '[^/]+')}$`));

const eventsOf = (kind: EventKind) =>
  Object.values(PAGE_LINKS).map((make) => {
    const details = { page: make(7) };
    return kind.startsWith('alert.') ? exampleAlert({ kind, details }) : exampleEvent({ kind, details });
  });

/** A digest that leads to every page. */
const digestEvent = exampleEvent({
  kind: 'digest',
  details: {
    page: PAGE_LINKS.fleet(),
    digest: {
      title: 'Acme: 23 November 2026 to 30 November 2026',
      summary: ['12 databases, score 98. Opened: 1 critical.', 'Backups: all 8 as expected.'],
      parts: Object.entries(PAGE_LINKS).map(([heading, make]) => ({
        heading,
        lines: [{ text: `A line of ${heading}`, path: make(7) }],
      })),
    },
  },
});

test.each(GROUPING_CHANNELS)('%s: every line of a digest leads to its page', (channel) => {
  const made = FORMATS[channel].makeMessage?.([digestEvent], CONTEXT);
  const links = linksIn(made?.body ?? '');
  for (const make of Object.values(PAGE_LINKS)) expect(links).toContain(make(7));
  for (const link of links) {
    const { pathname } = new URL(link, CONTEXT.consoleUrl);
    expect(
      SERVED.some((page) => page.test(pathname)),
      link,
    ).toBe(true);
  }
  for (const words of ['12 databases, score 98', 'Backups: all 8 as expected', 'A line of ticket'])
    expect(made?.body.replaceAll(/\\\\/g, '')).toContain(words);
});

/** The paths of the console to which a message links. */
function linksIn(body: string): string[] {
  const text = body.replace(/\\u([0-9a-f]{4})/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  const found = text.matchAll(new RegExp(`${CONTEXT.consoleUrl}([^\\s"'<>()|\\\\]*)`, 'g'));
  return [...found].map(([, path = '']) => path.replaceAll('&amp;', '&')).filter((path) => path !== '');
}

test.each(CHANNELS.filter((channel) => FORMATS[channel].makeMessage && !LOG_CHANNELS.includes(channel)))(
  '%s: every link of a message, of one event or of many, is a page of the console',
  (channel) => {
    const { makeMessage } = FORMATS[channel];
    for (const kind of EVENT_KINDS) {
      const events = eventsOf(kind);
      for (const group of [...events.map((event) => [event]), events.slice(0, FORMATS[channel].mostEvents)]) {
        const links = linksIn(makeMessage?.(group, CONTEXT).body ?? '');
        if (channel !== 'heartbeat') expect(links.length, kind).toBeGreaterThan(0);
        for (const link of links) {
          const { pathname } = new URL(link, CONTEXT.consoleUrl);
          expect(
            SERVED.some((page) => page.test(pathname)),
            `${kind}: ${link}`,
          ).toBe(true);
        }
      }
      for (const event of events.slice(0, 1)) {
        const links = linksIn(makeMessage?.([event], CONTEXT).body ?? '');
        if (channel !== 'heartbeat') expect(links, kind).toContain(event.details.page);
      }
    }
  },
);
