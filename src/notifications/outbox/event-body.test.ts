import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVENT_EXAMPLES } from '../../api/openapi/event-examples.ts';
import type { EventKind } from '../../vocabulary/event-kinds.ts';
import { eventBody, newEventId } from './queue-events.ts';

test('an envelope is what the frozen examples show, byte for byte', () => {
  for (const [kind, example] of Object.entries(EVENT_EXAMPLES)) {
    const { timestamp, data } = example as { timestamp: string; data: Record<string, unknown> };
    expect(eventBody(kind as EventKind, new Date(timestamp), data)).toBe(JSON.stringify(example));
  }
});

const AT = new Date('2026-03-02T10:15:00Z');

test('the longest texts are cut, and say so; short ones and numbers stay', () => {
  const body = eventBody('ops.ticket_created', AT, {
    ticket_id: 31,
    title: 'Short',
    remediation: 'drop '.repeat(10_000),
  });
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
  const { data } = JSON.parse(body);
  expect(data).toMatchObject({ ticket_id: 31, title: 'Short' });
  expect(data.remediation).toMatch(/^drop drop .* … \(cut by dbvitals\)$/);
});

test('a text is never cut inside a character', () => {
  const family = '👨‍👩‍👧‍👦';
  const { data } = JSON.parse(eventBody('test', AT, { message: family.repeat(5_000) }));
  const kept = data.message.replace(' … (cut by dbvitals)', '');
  expect(kept).toBe(family.repeat(kept.length / family.length));
});

test('no text makes a body of more than 20 kB, or one that is not JSON', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('\u0000', '\ud800', '"', '\u202e', 'é', '\u0301') }),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 2_000 }), text, (one, times, other) => {
      const body = eventBody('test', AT, { message: one.repeat(times), name: other });
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
      expect(JSON.parse(body).data.name).toBeTypeOf('string');
    }),
    { numRuns: 60 },
  );
});

test('ids are unique and safe in headers', () => {
  const ids = Array.from({ length: 1_000 }, newEventId);
  expect(new Set(ids).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^evt_[\w-]{22}$/);
});
