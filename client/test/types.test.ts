import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import type * as client from '../src/index.ts';
import { createClient } from '../src/index.ts';

// What stands in expectTypeOf is held by tsc; the rest by the run.
const dbvitals = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'k' });

test('every answer has its type, and none of them is any', () => {
  expectTypeOf(dbvitals.fleet).returns.resolves.toEqualTypeOf<client.Fleet>();
  expectTypeOf(dbvitals.latestCheck).returns.resolves.toEqualTypeOf<client.HealthCheckResult>();
  expectTypeOf(dbvitals.ticketStatistics).returns.resolves.toEqualTypeOf<client.TicketStatistics>();
  expectTypeOf(dbvitals.connections).returns.toEqualTypeOf<client.List<client.Connection>>();
  expectTypeOf(dbvitals.tickets).returns.toEqualTypeOf<client.List<client.Ticket>>();
  expectTypeOf(dbvitals.activity).returns.toEqualTypeOf<client.List<client.ActivityEntry>>();
  expectTypeOf(dbvitals.members).returns.toEqualTypeOf<client.List<client.Member>>();
  expectTypeOf(dbvitals.roles).returns.toEqualTypeOf<client.List<client.Role>>();
  expectTypeOf<client.Connection['score']>().toEqualTypeOf<number | null>();
  expectTypeOf<client.Ticket['status']>().toEqualTypeOf<'open' | 'resolved'>();
  expectTypeOf<client.Ticket['object']>().toEqualTypeOf<string | null>();
  expectTypeOf<client.FleetEntry['status']>().toEqualTypeOf<
    'healthy' | 'warning' | 'critical' | 'never_run'
  >();
  expectTypeOf<client.CheckFinding['check_id']>().toEqualTypeOf<string>();
  expectTypeOf<client.TicketStatistics['avg_resolution_hours']>().toEqualTypeOf<number | null>();
  expectTypeOf<client.ActivityEntry['properties']>().toEqualTypeOf<{ [key: string]: unknown }>();
  expectTypeOf<client.Role['permissions']>().toEqualTypeOf<string[]>();
  expectTypeOf<client.Page<client.Ticket>['meta']['has_more']>().toEqualTypeOf<boolean>();
});

test('a parameter that is none does not compile', () => {
  expectTypeOf(dbvitals.tickets).parameter(0).not.toBeAny();
  // @ts-expect-error the statuses are open and resolved
  dbvitals.tickets({ status: 'closed' });
  // @ts-expect-error the parameter is per_page
  dbvitals.connections({ perPage: 10 });
  // @ts-expect-error where to begin must be said
  dbvitals.activity.follow({});
});

test('an event is told apart by its name', () => {
  const scoreOrHours = (event: client.DbvitalsEvent): number | undefined => {
    if (event.event === 'health_check.completed') return event.data.score;
    if (event.event === 'ops.ticket_resolved') return event.data.resolution_hours;
    return undefined;
  };
  expectTypeOf<client.DbvitalsEvent['event']>().toEqualTypeOf<
    | 'health_check.completed'
    | 'ops.ticket_created'
    | 'ops.ticket_resolved'
    | 'alert.triggered'
    | 'alert.resolved'
    | 'ops.ticket_reopened'
    | 'ops.ticket_escalated'
    | 'destination.disabled'
    | 'api_key.expiring'
    | 'collector.silent'
    | 'collector.returned'
    | 'test'
  >();
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const example = (name: string) =>
    document.webhooks[name].post.requestBody.content['application/json'].example;
  expect(scoreOrHours(example('health_check.completed'))).toBeTypeOf('number');
  expect(scoreOrHours(example('ops.ticket_resolved'))).toBeTypeOf('number');
  expect(scoreOrHours(example('alert.triggered'))).toBeUndefined();
});
