import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { each } from './ask.ts';
import { command, commandJson, type Outcome } from './command.ts';

const account = makeAccount();

/** Nothing on standard output, one sentence on standard error, no password and no stack in it. */
function expectRefusal({ exit, stdout, stderr }: Outcome, code: number, told: string): void {
  expect(stderr, told).toMatch(/^[^\n]{10,400}\n$/);
  expect(stderr, told).not.toMatch(/ at .*\.ts:\d|unspoken/);
  expect(stdout, told).toBe('');
  expect(exit, `${told}: ${stderr}`).toBe(code);
}

const CONNECTION = 'connection add --account ID --name shop --url';

test('exit 2 for wrong usage, one sentence each, and nothing half done', async () => {
  const { id, key } = await account;
  const wrong = [
    'nonsense',
    'account nonsense',
    'migrate --plan now',
    'apply',
    'apply --export',
    'backup',
    'backup - --json',
    'backup /etc',
    'backup /etc --force',
    'restore',
    'restore no-such-file.backup',
    'account create --plan team',
    'account create --name Acme',
    'account create --name Acme --plan gold',
    'account create --name Acme --plan Team',
    'account create --name Acme --plan team --kind club',
    'account create --name Acme --plan enterprise --requests-per-minute 0',
    'account create --name Acme --plan enterprise --requests-per-minute 100001',
    'account create --name Acme --plan enterprise --requests-per-minute many',
    'account create --name Acme --plan team --colour red',
    'account change abc --name Acme',
    'account change',
    'account change ID --plan gold',
    'key create --name x',
    'key create --account abc --name x',
    'key create --account ID',
    'key create --account ID --name x --expires-in 90',
    'key create --account ID --name x --expires-in 1.5d',
    'key create --account ID --name x --expires-in -1d',
    'key create --account ID --name x --expires-in 0s',
    'measures list',
    'measures show --connection 1 --metric x --from soon',
    'changes list --connection 1 --limit 0',
    'exporter --account 1 --url http://127.0.0.1:1',
    'key revoke',
    'key revoke abc',
    'key regenerate 1 --overlap 25h',
    'key regenerate 1 --overlap soon',
    `${CONNECTION} nonsense`,
    `${CONNECTION} http://watcher:unspoken@db.example.com/shop`,
    `${CONNECTION} postgres://watcher:unspoken@db.example.com:70000/shop`,
    `${CONNECTION} postgres://watcher:unspoken@/shop:x:y`,
    `${CONNECTION} postgres://db.example.com/shop`,
    `${CONNECTION} mysql://watcher:unspoken@db.example.com:70000`,
    `${CONNECTION} mysql://watcher:unspoken@db.example.com/?ssl-mode=PREFERRED`,
    `${CONNECTION} mariadb://watcher:unspoken@/?socket=mysqld.sock`,
    `${CONNECTION} mysql://watcher:unspoken@db.example.com --expected-standbys 1`,
    `${CONNECTION} mariadb://watcher:unspoken@db.example.com --threshold PG_DEAD_TUPLES.warning=0.2`,
    `${CONNECTION} postgres://watcher:unspoken@db.example.com/shop --every 1s`,
    `${CONNECTION} postgres://watcher:unspoken@db.example.com/shop --every often`,
    `${CONNECTION} postgres://watcher:unspoken@db.example.com/shop --tls maybe`,
    `${CONNECTION} postgres://watcher:unspoken@db.example.com/shop --type carrier_pigeon`,
    'connection remove',
    'check run',
    'check run --connection abc',
    'check run --connection 1 --url postgres://watcher:unspoken@db.example.com/shop',
    'check run --connection 1 --tls disable',
    'check run --url nonsense',
    'check run --url mysql://watcher:unspoken@db.example.com --threshold PG_DEAD_TUPLES.warning=0.2',
    'check run --url postgres://watcher:unspoken@db.example.com/shop --threshold PG_FSYNC_OFF.warning=1',
    'silence add --connection 1 --check PG_DEAD_TUPLES --reason boredom --note x',
    'silence add --connection 1 --check PG_DEAD_TUPLES --reason wont_fix',
    'silence add --connection 1 --check PG_NONSENSE --reason wont_fix --note x',
    'silence add --connection 1 --check PG_DEAD_TUPLES --reason wont_fix --note x --until 2020-01-01',
    'silence list',
    'silence list --account ID --connection 1',
    'silence end abc',
    'member add --account ID --name Ada --email ada@example.com',
    'member add --account ID --name Ada --email ada@example.com --role king',
    'member add --account ID --name Ada --email nonsense --role owner',
    'apply',
    'apply -f',
    'apply -f no-such-file',
    'apply -f - --prune yes',
    'activity tail',
    'activity tail --account ID --after-id -1',
    'activity seal --public-key',
    'activity verify',
    'activity verify --account ID --public-key 00',
    'activity verify --account ID --from-export no-such-file',
    'activity verify no-such-directory',
    'activity verify . --seal-file no-such-file',
    'activity verify . --from-id 9 --to-id 3',
    'activity verify --account ID --from-id 3',
    'activity export --account ID',
    'activity export --account ID --out new --format xml',
    'activity export --account ID --out new --from 2026-02-30',
    'activity export --account ID --out new --from 2026-02-03 --to 2026-02-01',
    'sample-data --account ID --tickets some',
    'sample-data --account ID --tickets -5',
    'serve --port 70000',
    'serve --port abc',
    'serve --concurrency 0',
    'serve --processes 2',
    'monitor --concurrency 101',
    'connection change 1',
    'connection list --account ID --engine oracle',
    'connection list --account ID --version newest',
    'ticket list',
    'ticket list --account ID --status closed',
    'ticket list --account ID --severity error',
    'ticket list --account ID --limit 1001',
    'ticket assign --account ID --to nobody',
    'ticket assign 1 --account ID',
    'ticket assign one --account ID --to nobody',
    'ticket snooze 1 --account ID',
    'ticket snooze 1 --account ID --until 2020-01-01',
    'ticket comment 1 --account ID',
    'migrate now',
  ];
  const before = (await readLog(key)).length;
  const accounts = await commandJson<unknown[]>(['account', 'list']);
  await each(wrong, 3, async (line) => {
    const words = line.split(' ').map((word) => (word === 'ID' ? String(id) : word));
    expectRefusal(await command(words), 2, line);
  });
  const events = (await readLog(key, before)).filter(({ action_type }) => action_type !== 'api_request');
  expect(events).toEqual([]);
  // Other files make accounts meanwhile, but none of this name.
  expect(accounts).not.toContainEqual(expect.objectContaining({ name: 'Acme', plan: 'gold' }));
});

test('exit 1 for a failure, one sentence each', async () => {
  const absent = '999999999';
  const { id } = await account;
  const lines = [
    `account change ${absent} --name Acme`,
    `key create --account ${absent} --name x`,
    `key list --account ${absent}`,
    `key revoke ${absent}`,
    `key regenerate ${absent}`,
    `connection add --account ${absent} --name shop --url postgres://watcher:unspoken@db.example.com/shop`,
    `connection list --account ${absent}`,
    `connection change ${absent} --name shop`,
    `connection remove ${absent}`,
    `check run --connection ${absent}`,
    `silence add --connection ${absent} --check PG_DEAD_TUPLES --reason wont_fix --note x`,
    `silence list --connection ${absent}`,
    `silence list --account ${absent}`,
    `silence end ${absent}`,
    `ticket list --account ${absent}`,
    `ticket assign ${absent} --account ${absent} --to nobody`,
    `ticket comment ${absent} --account ${absent} --text x`,
    `ticket list --account ${id} --connection ${absent}`,
    `ticket list --account ${id} --assignee ${absent}`,
    `ticket snooze ${absent} --account ${id} --until 4h`,
    `ticket comment ${absent} --account ${id} --text x`,
    `member add --account ${absent} --name Ada --email ada@example.com --role owner`,
    `member list --account ${absent}`,
    `member change ${absent} --role viewer`,
    `member remove ${absent}`,
    `activity tail --account ${absent}`,
    `activity seal --account ${absent}`,
    `activity seal --account ${absent} --public-key`,
    `activity verify --account ${absent}`,
    `activity export --account ${absent} --out new`,
    `sample-data --account ${absent} --tickets 5`,
  ];
  await each(lines, 3, async (line) => expectRefusal(await command(line.split(' ')), 1, line));
  expect(await commandJson<unknown[]>(['member', 'list', '--account', String(id)])).toEqual([]);
});

test('exit 1: what would leave an account without an owner', async () => {
  const { id } = await makeAccount();
  const add = (name: string) =>
    commandJson<{ id: number }>([
      'member',
      'add',
      '--account',
      String(id),
      '--name',
      name,
      '--role',
      'owner',
      '--email',
      `${name}@example.com`,
    ]);
  const ada = await add('ada');
  const away = [
    ['member', 'remove', String(ada.id)],
    ['member', 'change', String(ada.id), '--role', 'admin'],
    ['member', 'change', String(ada.id), '--status', 'suspended'],
    ['member', 'change', String(ada.id), '--status', 'invited'],
  ];
  const refuseAll = async () => {
    for (const words of away) {
      const refused = await command(words);
      expectRefusal(refused, 1, words.join(' '));
      expect(refused.stderr).toContain('The account would have no owner');
    }
  };
  await refuseAll();
  const bob = await add('bob');
  await commandJson(['member', 'change', String(bob.id), '--status', 'suspended']); // no owner while suspended
  await refuseAll();
  await commandJson(['member', 'change', String(bob.id), '--status', 'active']);
  for (const words of away.toReversed()) await commandJson(words);
});

test('exit 1: what was done already', async () => {
  const { id } = await account;
  const { id: keyId } = await commandJson<{ id: number }>([
    'key',
    'create',
    '--account',
    String(id),
    '--name',
    'twice',
  ]);
  await commandJson(['key', 'revoke', String(keyId)]);
  expectRefusal(await command(['key', 'revoke', String(keyId)]), 1, 'revoke twice');
  expectRefusal(await command(['key', 'regenerate', String(keyId)]), 1, 'regenerate a revoked key');
  const member = ['member', 'add', '--account', String(id), '--name', 'Ada', '--role', 'admin', '--email'];
  const { id: memberId } = await commandJson<{ id: number }>([...member, 'ada@example.com']);
  expectRefusal(await command([...member, 'ADA@example.com']), 1, 'e-mail twice');
  await commandJson(['member', 'remove', String(memberId)]);
  expectRefusal(await command(['member', 'remove', String(memberId)]), 1, 'remove twice');
});

test('exit 2: wrong settings, every mistake at once, before anything is opened', async () => {
  const environment = {
    PORT: 'eighty',
    METRICS_PORT: '-1',
    LOG_LEVEL: 'loud',
    DBVITALS_CORS_ORIGINS: 'console',
    DBVITALS_TRUST_PROXY: 'everyone',
    DBVITALS_ALLOW_PRIVATE_TARGETS: 'perhaps',
    DBVITALS_SECRET_KEY: 'unspoken',
    DATABASE_URL: 'mysql://somewhere',
  };
  const { exit, stdout, stderr } = await command(['serve'], { environment });
  expect(exit).toBe(2);
  expect(stdout).toBe('');
  for (const name of Object.keys(environment)) expect(stderr).toContain(name);
  expect(stderr).not.toContain('unspoken');
  expect(stderr.trim().split('\n')).toHaveLength(Object.keys(environment).length);
});

test('exit 2: DATABASE_URL without the secret', async () => {
  const environment = { DATABASE_URL: 'postgres://watcher@127.0.0.1:1/shop' };
  const outcome = await command(['account', 'list'], { environment });
  expectRefusal(outcome, 2, 'no secret');
  expect(outcome.stderr).toContain('DBVITALS_SECRET_KEY');
});

test('exit 1: a store that is not there, without its password', async () => {
  const environment = {
    DATABASE_URL: 'postgres://watcher:unspoken@127.0.0.1:1/shop',
    DBVITALS_SECRET_KEY: '7c'.repeat(32),
  };
  expectRefusal(await command(['account', 'list'], { environment }), 1, 'no store');
});
