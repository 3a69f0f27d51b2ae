import { enrolCollector } from '../../src/accounts/collectors/enrol-collector.ts';
import { issueToken } from '../../src/accounts/collectors/issue-token.ts';
import { recordSilence } from '../../src/accounts/collectors/watch-collectors.ts';
import { remindOfExpiry } from '../../src/accounts/keys/remind-of-expiry.ts';
import { RefusedKeys } from '../../src/activity/record-refused-keys.ts';
import { Gate } from '../../src/api/gate/admit.ts';
import { request } from '../../src/api/gate/applicants-fixture.ts';
import { Authenticator, type NewQuestion } from '../contract/authenticator.ts';
import { EMAIL, PASSWORD, type Scene } from './scene.ts';

/** Members, passkeys, passwords and sessions. */
export async function actAsPeople({ ada, visit }: Scene): Promise<void> {
  const { version, ...account } = await ada.send<{ version: number; name: string }>('GET', '/account');
  await ada.send('PATCH', '/account', { version, name: `${account.name} & Co` });
  const ben = { name: 'Ben', email: 'ben@example.com', roles: ['viewer'] };
  const { member } = await ada.send<{ member: { id: number; version: string } }>('POST', '/members', ben);
  await ada.send('PATCH', `/members/${member.id}`, { version: member.version, roles: ['operator'] });
  const { url } = await ada.send<{ url: string }>('POST', `/members/${member.id}/link`);
  await visit().send('POST', new URL(url).pathname, { name: 'Ben', password: 'unspoken-passphrase-of-ben' });
  await ada.send('DELETE', `/members/${member.id}`);
  const key = new Authenticator('http://localhost');
  const question = await ada.send<NewQuestion>('POST', '/me/passkeys/options', {});
  await ada.send('POST', '/me/passkeys', { name: 'laptop', response: key.make(question) });
  const [passkey] = key.passkeys;
  await ada.send('DELETE', `/me/passkeys/${passkey?.id.toString('base64url')}`);
  await ada.send('POST', '/me/password', { current: PASSWORD, next: `${PASSWORD}-anew` });
  const phone = visit();
  await phone.ask('POST', '/sign-in', { email: EMAIL, password: 'unspoken-wrong' });
  await phone.send('POST', '/sign-in', { email: EMAIL, password: `${PASSWORD}-anew` });
  const { data } = await ada.send<{ data: { id: number; current: boolean }[] }>('GET', '/sessions');
  await ada.send('DELETE', `/sessions/${data.find(({ current }) => !current)?.id}`);
  await phone.send('POST', '/sign-in', { email: EMAIL, password: `${PASSWORD}-anew` });
  await phone.send('POST', '/sign-out');
}

/** API keys, what is asked with them, and collectors. */
export async function actWithKeys(scene: Scene): Promise<void> {
  const { ada, store, owner, accountId } = scene;
  const { writer } = store;
  const newKey = (name: string, expires_in: number | null = null) =>
    ada.send<{ id: number }>('POST', '/keys', { name, expires_in });
  const { id } = await newKey('collector');
  await ada.send('PATCH', `/keys/${id}`, {
    version: 1,
    scopes: ['health'],
    allowed_addresses: ['192.0.2.0/24'],
  });
  await ada.send('POST', `/keys/${id}/regenerate`, { overlap: 0 });
  const other = await newKey('other');
  const gate = new Gate(store.address);
  const asked = { sourceIp: '192.0.2.7', userAgent: 'curl/8.14.1', query: '{"per_page":"5"}' };
  await gate.admit(request(accountId, other.id, {}, asked));
  const failed = { status: 403, errorCode: 'forbidden', pagePath: '/api/v1/team/members' };
  await gate.admit(request(accountId, other.id, {}, { ...asked, ...failed }));
  await gate.close();
  await ada.send('POST', `/keys/${other.id}/revoke`, { name: 'other' });
  const refused = new RefusedKeys(writer, store.deps.log);
  for (const [apiKeyId, byAddress] of [
    [other.id, false],
    [id, false],
  ] as const)
    refused.note({ accountId, apiKeyId, byAddress }, '203.0.113.9');
  await refused.close();
  const ending = await newKey('for a month', 30 * 86_400);
  const later = `update api_key set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval where api_key_id = $1`;
  await writer.query(later, [ending.id, '29 days 12 hours']);
  for await (const _ of remindOfExpiry(owner));
  await actAsCollector(scene);
}

async function actAsCollector({ ada, store: { writer }, accountId, change }: Scene): Promise<void> {
  const collector = await change((made) => issueToken(made, 'frankfurt'));
  const publicKey = Buffer.alloc(32, 7);
  const enrolment = {
    token: collector.token,
    name: 'frankfurt',
    publicKey,
    version: '1.0.0',
    address: '192.0.2.8',
  };
  await enrolCollector(writer, accountId, enrolment);
  const collected = { name: 'inside', collector: 'frankfurt', engine: 'postgres' };
  await ada.send('POST', '/collectors/connections', collected);
  const lastHeard = (ago: string) =>
    writer.query('update collector set last_contact_at = now() - $2::interval where account_id = $1', [
      accountId,
      ago,
    ]);
  await lastHeard('61 s');
  await recordSilence(writer);
  await lastHeard('0 s');
  await recordSilence(writer);
  await ada.send('POST', `/collectors/${collector.id}/revoke`);
}
