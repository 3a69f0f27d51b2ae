import { join } from 'node:path';
import { askOnce } from './ask.ts';
import { postgresOf } from './cost.ts';
import { ENDPOINT_ONE, inTurn, messages } from './mixes.ts';
import type { Contestant, Standing } from './rounds.ts';
import { seedAccounts } from './seed.ts';
import { makeDataDir, startService } from './servers.ts';

/** A service under the load of endpoint 1, and its store. */
export interface CheckoutContestant extends Contestant {
  dataDir: string;
  accountId: number;
}

/**
 * A service with an account of 20 connections and 50 keys; `root` is another checkout, null this one. `paths` are asked in turn: by
 * default endpoint 1.
 */
export async function checkoutContestant(
  name: string,
  root: string | null,
  paths: (connectionId: number) => string[] = () => [ENDPOINT_ONE],
): Promise<CheckoutContestant> {
  const dataDir = makeDataDir();
  const seed: typeof seedAccounts =
    root === null ? seedAccounts : (await import(join(root, 'bench/seed.ts'))).seedAccounts;
  const [account = { id: 0, keys: [] }] = await seed(dataDir, 1);
  const server = await startService(dataDir, [], root === null ? undefined : join(root, 'src/dbvitals.ts'));
  const { data } = await askOnce<{ data: { id: number }[] }>(
    server.port,
    account.keys[0] ?? '',
    ENDPOINT_ONE,
  );
  const load = inTurn(messages(account.keys, paths(data[0]?.id ?? 0)));
  return { name, server, postmaster: postgresOf(dataDir), load, dataDir, accountId: account.id };
}

/** A standing as a line: processor time per answer, rate and p99. */
export function costLine({ name, rate, cpu, p99 }: Standing): string {
  const [node, postgres] = cpu;
  return `${name}: ${node.toFixed(1)} µs of Node and ${postgres.toFixed(1)} µs of PostgreSQL an answer; ${Math.round(rate)}/s, p99 ${p99.toFixed(1)} ms`;
}
