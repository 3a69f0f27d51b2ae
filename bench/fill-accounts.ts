import { addAccount, type SeededAccount, withStore } from './seed.ts';
import { runCommand } from './servers.ts';

/** How far back the accounts' history goes. */
export const HISTORY_DAYS = 90;

/**
 * Creates an account for each number of entries with `sample-data`, with a ticket per 10 and a connection per 1,000
 * entries. `seconds` is the time for the last account, `bytes` the size of an entry on disk including indexes.
 */
export function fillAccounts(
  say: (step: string) => void,
  dataDir: string,
  sizes: readonly number[],
): Promise<{ accounts: SeededAccount[]; seconds: number; bytes: number }> {
  return withStore(dataDir, async (writer, owner) => {
    const accounts: SeededAccount[] = [];
    let seconds = 0;
    for (const size of sizes) {
      say(`sample data: ${size.toLocaleString('en-US')} entries`);
      const account = await addAccount(writer, `${size} entries`, 50);
      accounts.push(account);
      const started = performance.now();
      await runCommand(dataDir, [
        'sample-data',
        '--account',
        `${account.id}`,
        '--activity',
        `${size}`,
        '--tickets',
        `${size / 10}`,
        '--connections',
        `${size / 1_000}`,
        '--days',
        `${HISTORY_DAYS}`,
      ]);
      seconds = (performance.now() - started) / 1000;
    }
    // Otherwise autovacuum would do this minutes later, during the measurement.
    say('vacuum');
    await owner.query('vacuum analyze');
    const { rows } = await writer.query<{ bytes: number }>(
      `select pg_total_relation_size('activity')::float8 / count(*) as bytes from activity`,
    );
    return { accounts, seconds, bytes: rows[0]?.bytes ?? 0 };
  });
}
