import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { signInAs } from './browser.ts';
import {
  MINUTE,
  makeDeadlock,
  makeEpisode,
  makeLoad,
  makePast,
  NO_RUN,
  startAttacked,
  thisMinute,
} from './collector-attack.ts';
import { newPair, quietResult, VERSION } from './collector-client.ts';
import { commandJson } from './command.ts';

// Strangers and hostile collectors that take the place of another one. Each is refused, told so, and nothing is stored.

const {
  site,
  post,
  enrol,
  enrolledClient,
  addCollected,
  startRun,
  countChecks,
  countPulses,
  removeConnection,
} = startAttacked();

test('a run is handed only to the collector of its connection, and only that one can deliver it, once', async () => {
  const { connectionId, run } = await startRun(site.own, 'shop');
  for (const thief of [site.other, site.stranger]) {
    const { status, body } = await thief.send('result', quietResult(run));
    expect([status, body.error?.code]).toEqual([409, 'conflict']);
  }
  expect(await countChecks(connectionId)).toBe(0);
  expect(await site.own.send('result', quietResult(run))).toMatchObject({
    status: 200,
    body: { health_check_id: expect.any(Number) },
  });
  const again = await site.own.send('result', quietResult(run));
  expect([again.status, await countChecks(connectionId)]).toEqual([409, 1]);
  const invented = await site.own.send('result', quietResult(NO_RUN));
  expect(invented.status).toBe(409);
  await removeConnection(connectionId);
});

test('a removed connection takes no result', async () => {
  const { connectionId, run } = await startRun(site.own, 'gone');
  await removeConnection(connectionId);
  expect((await site.own.send('result', quietResult(run))).status).toBe(409);
  expect(await countChecks(connectionId)).toBe(0);
});

test('runs that a collector does not have any more are handed out again, and the old ones are void', async () => {
  const { connectionId, run } = await startRun(site.own, 'again');
  const kept = await Promise.race([
    site.own.work({ running: [run] }),
    new Promise((done) => setTimeout(done, 2_500, null)),
  ]);
  expect(kept).toBe(null);
  const { body } = await site.own.work();
  const second = body.jobs?.[0]?.run ?? '';
  expect(second).not.toBe(run);
  expect((await site.own.send('result', quietResult(run))).status).toBe(409);
  expect((await site.own.send('result', quietResult(second))).status).toBe(200);
  expect(await countChecks(connectionId)).toBe(1);
  await removeConnection(connectionId);
});

test('a request that is unsigned, signed otherwise, or altered is refused', async () => {
  const content = { version: VERSION, free: 0, running: [] };
  const { key } = newPair();
  const good = site.own.sign('work', content);
  const now = Date.now() * 1_000;
  const refused = {
    unsigned: await post('work', { headers: {}, body: good.body }),
    'another key': await site.own.send('work', content, { key }),
    'another collector': await site.own.send('work', content, {
      keyId: `${site.other.account}/${site.other.collector}`,
    }),
    'another account': await site.own.send('work', content, {
      keyId: `${site.stranger.account}/${site.own.collector}`,
    }),
    'no account': await site.own.send('work', content, { keyId: '999999999999999/1' }),
    'another path': await site.own.send('work', content, { path: '/collector/result' }),
    'another body': await site.own.send('work', content, { body: gzipSync('{"free":5}') }),
    'another digest': await site.own.send('work', content, {
      headers: { 'content-digest': 'sha-256=:AAAA:' },
    }),
    'no nonce': await post('work', {
      ...good,
      headers: {
        ...good.headers,
        'signature-input': (good.headers['signature-input'] ?? '').replace(/;nonce=.*/, ''),
      },
    }),
    'an API key': await post('work', {
      body: good.body,
      headers: { authorization: `Bearer ${site.account.key}` },
    }),
  };
  for (const [name, { status, body }] of Object.entries(refused))
    expect([name, status, body.error?.code]).toEqual([name, 401, 'unauthorized']);
  for (const nonce of [now - 600e6, now + 600e6]) {
    const { status, body } = await site.own.send('work', content, { nonce });
    expect([status, body.error?.message]).toEqual([
      401,
      expect.stringMatching(/clocks .* differ by (599|600|601) s/),
    ]);
  }
});

test('a request is accepted once, by whichever service it is sent again', async () => {
  const { connectionId, run } = await startRun(site.own, 'replayed');
  const result = site.own.sign('result', quietResult(run));
  expect((await post('result', result)).status).toBe(200);
  expect(await post('result', result)).toMatchObject({
    status: 401,
    body: { error: { code: 'unauthorized' } },
  });
  const many = site.own.sign('result', quietResult(run));
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => post('result', many)))).map(
    ({ status }) => status,
  );
  expect(statuses.filter((status) => status === 409).length).toBe(1);
  expect(statuses.filter((status) => status === 401 || status === 429).length).toBe(7);
  expect(await countChecks(connectionId)).toBe(1);
  await removeConnection(connectionId);
});

test('pulses, looks and results of the past count only for connections of their collector, and once', async () => {
  const id = await addCollected('own', 'pulsed');
  const at = thisMinute() - MINUTE;
  const events = [makeEpisode('pulsed'), makeDeadlock('pulsed', at), makeLoad('pulsed', at)];
  await site.store.query(
    `update collected_connection set look_until = now() + interval '1 min' where connection_id = $1`,
    [id],
  );
  const look = { connection: 'pulsed', answer: { failure: { kind: 'unread', reason: 'silence' } } };
  for (const thief of [site.other, site.stranger]) {
    expect(await thief.send('pulse', { events })).toMatchObject({ status: 200, body: {} });
    expect((await thief.send('look', look)).body).toEqual({ watched: false });
    expect((await thief.send('past', makePast('pulsed', at))).body).toEqual({ stored: 0 });
  }
  expect([await countPulses(id), await countChecks(id)]).toEqual([[0, 0, 0], 0]);
  const pulse = site.own.sign('pulse', { events });
  expect([(await post('pulse', pulse)).status, (await post('pulse', pulse)).status]).toEqual([200, 401]);
  expect((await site.own.send('pulse', { events })).status).toBe(200); // sent again, because the answer was lost
  expect(await countPulses(id)).toEqual([1, 1, 1]);
  for (const stored of [1, 0])
    expect((await site.own.send('past', makePast('pulsed', at))).body).toEqual({ stored });
  expect((await site.own.send('look', look)).body).toEqual({ watched: true });
  const { rows } = await site.store.query('select look from collected_connection where connection_id = $1', [
    id,
  ]);
  expect(rows).toEqual([{ look: look.answer }]);
  await removeConnection(id);
  expect((await site.own.send('pulse', { events: [makeDeadlock('pulsed', at + 1)] })).status).toBe(200);
  expect((await site.own.send('look', look)).body).toEqual({ watched: false });
  expect((await site.own.send('past', makePast('pulsed', at + 1))).body).toEqual({ stored: 0 });
  expect([await countPulses(id), await countChecks(id)]).toEqual([[1, 1, 1], 1]);
});

test('a revoked collector is refused, gets no work, and delivers nothing', async () => {
  const revoked = await enrolledClient(site.account.id, 'revoked');
  const id = await addCollected('revoked', 'left');
  const { body } = await revoked.work();
  const run = body.jobs?.[0]?.run ?? '';
  await commandJson(['collector', 'revoke', `${revoked.collector}`]);
  const look = { connection: 'left', answer: { failure: { kind: 'unread', reason: 'x' } } };
  const sent = {
    work: { version: VERSION, free: 0, running: [] },
    result: quietResult(run),
    past: makePast('left', Date.now() - 60_000),
    pulse: { events: [makeEpisode('left')] },
    look,
  };
  for (const [action, content] of Object.entries(sent))
    expect([action, (await revoked.send(action, content)).status]).toEqual([action, 401]);
  expect(await countChecks(id)).toBe(0);
  // Enrolled again it has another key, and the old one stays void.
  const anew = await enrolledClient(site.account.id, 'revoked');
  expect(anew.collector).toBe(revoked.collector);
  expect((await revoked.work({ free: 0 })).status).toBe(401);
  expect((await anew.work()).body.jobs).toHaveLength(1);
  await removeConnection(id);
});

test('the key of a collector opens nothing but its own requests', async () => {
  const { origin } = site.service;
  const { id } = await commandJson<{ id: number }>([
    ...['collector', 'enrol', '--account', `${site.account.id}`, '--name', 'spare'],
  ]);
  const paths = [
    '/api/v1/health/connections',
    '/api/v1/health/fleet',
    '/console/api/profile',
    '/console/api/collectors',
    '/mcp',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const { headers, body } = site.own.sign('work', { version: VERSION, free: 0, running: [] }, { path });
      const sent = method === 'GET' ? {} : { body: new Uint8Array(body) };
      const { status } = await fetch(origin + path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...sent,
      });
      expect([401, 403, 404, 405], `${method} ${path}`).toContain(status);
    }
  }
  // Nor does it change who collects what: another collector is neither enrolled nor revoked by it.
  for (const action of ['revoke', `${id}/revoke`, 'enrol/spare', 'connections'])
    expect([action, (await site.own.send(action, { id })).status]).toEqual([action, 404]);
});

test('a token enrols once, only its own collector, within its hour, and while its maker may', async () => {
  const issue = (name: string) =>
    commandJson<{ token: string }>(['collector', 'enrol', '--account', `${site.account.id}`, '--name', name]);
  const pair = () => ({ public_key: newPair().publicKey, version: VERSION });
  const { token } = await issue('tokens');
  const wrong = await enrol({ token, name: 'another', ...pair() });
  expect([wrong.status, wrong.body.error?.code]).toEqual([409, 'conflict']);
  const statuses = (
    await Promise.all([1, 2, 3, 4].map(() => enrol({ token, name: 'tokens', ...pair() })))
  ).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 401, 401, 401]);

  const { token: replaced } = await issue('tokens');
  const { token: expired } = await issue('tokens');
  await site.store.query(
    `update collector set token_expires_at = now() - interval '1 s' where account_id = $1 and name = 'tokens'`,
    [site.account.id],
  );
  const otherAccount = expired.replace(/_\d+_/, `_${site.stranger.account}_`);
  for (const void_ of [replaced, expired, otherAccount, `dbv_enrol_999999999_${'a'.repeat(43)}`, 'x'])
    expect((await enrol({ token: void_, name: 'tokens', ...pair() })).status).toBe(401);
});

test('a token is void once its maker is demoted or suspended', async () => {
  for (const change of [{ roles: ['viewer'] }, { status: 'suspended' }]) {
    const maker = await signInAs(site.account.id, ['admin']);
    const { token } = await commandJson<{ token: string }>([
      ...['collector', 'enrol', '--account', `${site.account.id}`, '--name', 'made'],
    ]);
    await site.store.query(`update collector set token_by = $2 where account_id = $1 and name = 'made'`, [
      site.account.id,
      maker.memberId,
    ]);
    const owner = await signInAs(site.account.id, ['owner']);
    const changeMaker = async (change: object) => {
      const { data } = await owner.get<{ data: { id: number; version: string }[] }>('/members');
      const { version } = data.find(({ id }) => id === maker.memberId) ?? {};
      await owner.change('PATCH', `/members/${maker.memberId}`, { version, ...change });
      return (await enrol({ token, name: 'made', public_key: newPair().publicKey, version: VERSION })).status;
    };
    expect([change, await changeMaker(change)]).toEqual([change, 401]);
    // Taking it back does not revive the token.
    expect([change, await changeMaker({ roles: ['admin'], status: 'active' })]).toEqual([change, 401]);
  }
});

test('other methods, paths and versions are told what is wrong', async () => {
  const { origin } = site.service;
  expect((await fetch(`${origin}/collector/work`)).status).toBe(405);
  expect((await fetch(`${origin}/collector`)).status).toBe(404);
  expect((await fetch(`${origin}/collector/work/1`, { method: 'POST' })).status).toBe(404);
  const { status, body } = await site.own.work({ version: '0.9.0' });
  expect([status, body.error?.message]).toEqual([409, expect.stringContaining('Update the older one')]);
  expect((await site.own.work({ free: 21 })).status).toBe(400);
});

test('a collector of the minor version before or after works, by the first fields alone', async () => {
  for (const version of ['0.0.9', '0.2.0-rc.1+build']) {
    const id = await addCollected('own', `of ${version}`);
    const { status, body } = await site.own.send('work', { version, free: 1, running: [] });
    expect([status, body.jobs?.length]).toEqual([200, 1]);
    expect(body['takes']).toEqual(['looking', 'buffered', 'at', 'catalogue', 'leftOut']); // what a newer one may send besides
    expect((await site.own.send('result', quietResult(body.jobs?.[0]?.run ?? ''))).status).toBe(200);
    await removeConnection(id);
  }
  for (const version of ['0.3.0', '1.0.0', '1.1.0']) {
    const { status, body } = await site.own.work({ version, free: 0 });
    expect([status, body.error?.message]).toEqual([409, expect.stringContaining('Update the older one')]);
  }
});
