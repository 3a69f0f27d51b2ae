import { expect, test } from 'vitest';
import { startTwoCells } from '../../test/cells/two-cells.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { readCellsFile } from '../config/cells-file.ts';
import { CONTROL_ONLY, claimCell } from '../store/directory/claim-cell.ts';
import { openCells } from '../store/directory/open-cells.ts';
import { startControlRounds } from './control-rounds.ts';

const ONCE = { first: 0, every: 3_600_000 };

/** Opens the cells with or without a control store of its own, and starts its rounds. */
async function withRounds(control: TestStore | null, work: (isRunning: boolean) => Promise<void>) {
  const stores = await startTwoCells(control);
  const file = readCellsFile(stores.environment['DBVITALS_CELLS_FILE'] ?? '');
  const settings = { cells: file, databaseUrl: null, poolerUrl: null, dataDir: '/nowhere' };
  const cells = await openCells(settings, () => {}, 'migrate');
  const log = { info: () => {}, error: (details: object) => expect.fail(JSON.stringify(details)) };
  const rounds = startControlRounds(cells, { log }, ONCE);
  try {
    await work(rounds !== null);
  } finally {
    await rounds?.stop();
    await cells.close();
    await stores.stop();
  }
}

test('a control store of its own loses expired sessions, challenges and failed sign-ins', async () => {
  const control = await startTestStore();
  await claimCell(control.address, CONTROL_ONLY);
  const root = await control.superuser('store');
  // Each an hour or a day past its time, and one that is not.
  await root.query(`
    with person as (
      insert into login (email, name, account_id) values ('ada@example.com', 'Ada', 1) returning login_id
    )
    insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
    select sha256(n::text::bytea), login_id, 1, now() + n * interval '1 day', '192.0.2.7', 'test'
      from person, generate_series(-3, 1) n where n <> 0;
    insert into challenge (challenge_hash, expires_at)
    select sha256(n::text::bytea), now() + n * interval '1 hour' from generate_series(-3, 1) n where n <> 0;
    insert into sign_in_failure (address, email_hash, at)
    select '192.0.2.7', sha256(n::text::bytea), now() - n * interval '61 minutes' from generate_series(0, 3) n`);
  const left = async () => {
    const { rows } = await root.query(`
      select (select count(*)::int from session) as sessions, (select count(*)::int from challenge) as challenges,
             (select count(*)::int from sign_in_failure) as failures`);
    return rows[0];
  };
  expect(await left()).toEqual({ sessions: 4, challenges: 4, failures: 4 });
  await withRounds(control, async () => {
    await expect.poll(left).toEqual({ sessions: 1, challenges: 1, failures: 1 });
  });
  await control.stop();
});

test('a control store that is a cell has no rounds beside those of the cell', async () => {
  await withRounds(null, async (isRunning) => expect(isRunning).toBe(false));
});
