import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask, each } from './ask.ts';
import { type Span, startReceiver } from './otlp-receiver.ts';
import { startService, temporaryFolder } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';
const CALLER = '0af7651916cd43dd8448eb211c80319c';

const named = (spans: Span[], name: string) => spans.filter((span) => span.name === name);

test('a request is a span with its parts, a batch is linked with its requests, and nothing of the caller is told', async () => {
  const receiver = await startReceiver();
  const { key } = await makeAccount();
  const { origin, stop } = await startService(
    {
      ...inject('sharedStore'),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=dbvitals',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
    ['--no-monitor'],
  );
  const headers = { traceparent: `00-${CALLER}-b7ad6b7169203331-01`, tracestate: 'vendor=1' };
  const first = await ask(`${FLEET}?_=query-value`, { origin, key, headers });
  const unsampled = { traceparent: `00-${CALLER.replace('0af', '1bf')}-b7ad6b7169203331-00` };
  const second = await ask(FLEET, { origin, key, headers: unsampled });
  const broken = { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01-x` };
  const third = await ask(`/api/v1/path-value`, { origin, key, headers: broken });
  await each(Array.from({ length: 40 }), 40, () => ask(FLEET, { origin, key }));
  expect([first.status, second.status, third.status]).toEqual([200, 200, 404]);
  expect(await stop()).toBe(0); // sends what was left
  receiver.close();

  const { spans } = receiver;
  const idOf = (answer: typeof first) => answer.headers['x-request-id'];
  const requestOf = (answer: typeof first) =>
    spans.filter(({ attributes }) => attributes['dbvitals.request_id'] === idOf(answer));
  const [request, ...others] = requestOf(first);
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    trace: CALLER,
    parent: 'b7ad6b7169203331',
    name: `GET ${FLEET}`,
    kind: 2,
    attributes: { 'http.request.method': 'GET', 'http.route': FLEET, 'http.response.status_code': 200 },
    status: 0,
    resource: { 'service.name': 'dbvitals', 'deployment.environment.name': 'test' },
  });
  expect(requestOf(second)).toEqual([]);
  expect(requestOf(third)).toMatchObject([{ name: 'GET unknown', parent: '' }]);

  const parts = spans.filter(({ trace }) => trace === CALLER);
  const [gate] = named(parts, 'gate');
  const [prepare] = named(parts, 'prepare');
  expect(gate).toMatchObject({ parent: request?.id, attributes: { 'dbvitals.verdict': 'admitted' } });
  expect(prepare).toMatchObject({ parent: request?.id });
  const statements = parts.filter(({ kind }) => kind === 3);
  expect(statements.map(({ name }) => name)).toContain('select connection');
  for (const statement of statements) expect(statement.attributes['db.system.name']).toBe('postgresql');
  const inside = statements.filter(({ parent }) => parent === prepare?.id);
  expect(inside.length).toBeGreaterThan(0);

  const batches = named(spans, 'gate batch');
  const [batch] = batches.filter(({ links }) => links.includes(request?.id ?? ''));
  expect(batch).toMatchObject({ parent: '', attributes: { 'dbvitals.batch.requests': 1 } });
  expect(request?.links).toEqual([batch?.id]);
  expect(named(spans, 'admit').map(({ parent }) => parent)).toEqual(batches.map(({ id }) => id));
  expect(Math.max(...batches.map(({ links }) => links.length))).toBeGreaterThan(1);
  expect(batches.reduce((sum, { links }) => sum + links.length, 0)).toBe(42);

  expect(receiver.headers[0]?.['x-tenant']).toBe('dbvitals');
  for (const secret of [key, 'query-value', 'path-value', 'dbv_live_']) {
    expect(receiver.bytes().includes(secret), secret).toBe(false);
  }
});

test('a run is a span; a collector that hangs costs no answer and no end', async () => {
  const receiver = await startReceiver();
  const folder = temporaryFolder();
  const settings = { DBVITALS_DATA_DIR: join(folder.path, 'data'), OTEL_TRACES_EXPORTER: 'otlp' };
  const endpoint = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.origin}/v1/traces` };
  // The first start checks the store itself.
  const service = await startService({ ...settings, ...endpoint }, ['--no-monitor']);
  const [, key = ''] = await service.says(/API key +(dbv_live_\w{49})/);
  const asked = await ask(FLEET, { origin: service.origin, key });
  expect(await service.stop()).toBe(0);
  const requests = receiver.spans.map(({ attributes }) => attributes['dbvitals.request_id']);
  expect(requests).toContain(asked.headers['x-request-id']);
  const [run, ...others] = named(receiver.spans, 'health check');
  expect(others).toEqual([]);
  const attributes = { 'dbvitals.connection_id': 1, 'dbvitals.engine': 'postgres' };
  expect(run).toMatchObject({ kind: 1, parent: '', attributes });
  expect(named(receiver.spans, 'measure')).toMatchObject([{ parent: run?.id, trace: run?.trace }]);
  receiver.close();

  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const hanging = { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
  const patient = await startService(hanging, ['--no-monitor']);
  expect((await ask(FLEET, { origin: patient.origin, key })).status).toBe(200);
  const began = performance.now();
  expect(await patient.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(25_000);
  silent.close();
  folder.remove();
});
