import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresChecks } from '../../src/checks/catalogue.ts';
import type { Fault, Thresholds } from '../../src/checks/check.ts';
import { measure } from './measure.ts';
import { PostgresServer } from './postgres-server.ts';
import { provocations } from './provocations.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

/** All that all checks find, as the monitor's own role sees it. None but `blinded` may be skipped. */
async function found(thresholds?: Thresholds, blinded?: string): Promise<({ check_id: string } & Fault)[]> {
  const client = await server.open('watcher');
  try {
    const faults = [];
    for (const check of postgresChecks) {
      const judgement = await measure(client, check, check.thresholds && thresholds);
      expect(judgement.skipped !== undefined, check.id).toBe(check.id === blinded);
      faults.push(...judgement.faults.map((fault) => ({ check_id: check.id, ...fault })));
    }
    return faults;
  } finally {
    await client.end();
  }
}

test('a freshly made server has no fault', async () => {
  expect(await found()).toEqual([]);
});

test.each(provocations.filter(({ check_id }) => !check_id.startsWith('CONN_')))(
  '$check_id ($object, $severity): found, named, and mended by its remediation',
  async ({ check_id, severity, object, thresholds, blinds, provoke }) => {
    const mend = await provoke(server);
    const faults = await found(thresholds, blinds);
    expect(faults).toMatchObject([{ check_id, severity, object }]);
    await mend(faults[0]?.remediation ?? '');
    expect(await found(thresholds)).toEqual([]);
  },
);

test('every check has a provocation', () => {
  const provoked = new Set(provocations.map(({ check_id }) => check_id));
  expect(postgresChecks.map(({ id }) => id).filter((id) => !provoked.has(id))).toEqual([]);
});
