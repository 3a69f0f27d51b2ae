import { addAccount, type SeededAccount, withStore } from './seed.ts';
import { runCommand } from './servers.ts';

/** How far back the accounts' history goes. */
export const HISTORY_DAYS = 90;

/**
 * Makes an account for each number of entries by `sample-data`, with a ticket for every 10 and a connection for every
 * 1,000 of them. `seconds` is how long the last took, `bytes` what an entry takes on disk, indexes and all.
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
        ...['sample-data', '--account', `${account.id}`, '--activity', `${size}`],
        ...['--tickets', `${size / 10}`, '--connections', `${size / 1_000}`, '--days', `${HISTORY_DAYS}`],
      ]);
      seconds = (performance.now() - started) / 1000;
    }
    // What autovacuum would do within minutes, while the benchmark measures.
    say('vacuum');
    await owner.query('vacuum analyze');
    const { rows } = await writer.query<{ bytes: number }>(
      `select pg_total_relation_size('activity')::float8 / count(*) as bytes from activity`,
    );
    return { accounts, seconds, bytes: rows[0]?.bytes ?? 0 };
  });
}
