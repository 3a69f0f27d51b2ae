import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { each } from './ask.ts';
import { freePort } from './free-port.ts';
import { resetAt, stages } from './resets.ts';
import { startService } from './running-service.ts';

/** Connections that are reset at each stage, at either port. */
const COUNT = 25;

const certificate = (part: string) => join(import.meta.dirname, `../certificates/server.${part}`);
const TLS = { TLS_CERT_FILE: certificate('pem'), TLS_KEY_FILE: certificate('key') };

/** The status of an endpoint on a connection of its own; null where there is no answer. */
function fleet(origin: string, key: string): Promise<number | null> {
  const headers = { authorization: `Bearer ${key}` };
  const options = { headers, agent: false, rejectUnauthorized: false };
  return new Promise((resolve) => {
    (origin.startsWith('https') ? https : http)
      .get(`${origin}/api/v1/health/fleet`, options, (response) => {
        response.resume();
        resolve(response.statusCode ?? null);
      })
      .once('error', () => resolve(null));
  });
}

test.each([
  ['plain', {}],
  ['by TLS', TLS],
])('a client that resets its connection at any stage of a request ends no process: %s', async (_, tls) => {
  const { key } = await makeAccount();
  const metricsPort = await freePort();
  const settings = { ...inject('sharedStore'), ...tls, METRICS_PORT: `${metricsPort}` };
  const service = await startService(settings, ['--no-monitor']);
  const port = Number(new URL(service.origin).port);
  try {
    for (const [name, stage] of Object.entries(stages(key))) {
      await each(Array(COUNT).fill(stage), COUNT, (one) => resetAt(one, port, tls === TLS));
      await each(Array(COUNT).fill(stage), COUNT, (one) => resetAt(one, metricsPort));
      expect(await fleet(service.origin, key), `${name}: ${service.output()}`).toBe(200);
    }
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(/^dbvitals_connection_failures_total\{reason="reset"\} [1-9]\d*$/m);
    for (const from of ['request', 'connection', 'process']) {
      expect(metrics).toContain(`\ndbvitals_escaped_errors_total{from="${from}"} 0\n`);
    }
    expect(service.output()).not.toMatch(/failed|escaped|unhandled|ended/);
  } finally {
    expect(await service.stop()).toBe(0);
  }
});
