import { expect, test } from 'vitest';
import { ForbiddenAddress } from '../../../platform/network/address.ts';
import { HashingRefused, LoginRefused, NoAnswer, PasswordRefused } from '../session.ts';
import { SshRefused } from '../ssh-tunnel.ts';
import type { Attempt } from './connect-advice.ts';
import { connectFailure, isServerAnswer } from './connect-failure.ts';

const coded = (code: string, message = 'it failed') => Object.assign(new Error(message), { code });
const mysql = (errno: number, message = 'refused') =>
  Object.assign(new Error(message), { errno, sqlState: 'HY000', code: 'ER_SOME' });
const timeout = () => new DOMException('The operation was aborted due to timeout', 'TimeoutError');

type Kind = 'unreachable' | 'unauthorized' | 'saturated';

type Cause = [error: unknown, kind: Kind, reason: RegExp, advice: RegExp];

/** Each cause: what its line says, and what its remedy must be about. */
const causes: Cause[] = [
  [coded('ECONNREFUSED'), 'unreachable', /connection refused/, /Start the server.*listen_addresses/],
  [coded('ECONNRESET'), 'unreachable', /closed the connection/, /log of the server/],
  [coded('PROTOCOL_CONNECTION_LOST'), 'unreachable', /closed the connection/, /log of the server/],
  [coded('EHOSTUNREACH'), 'unreachable', /no route to the host/, /routes, the VPN or the firewall/],
  [coded('ENETUNREACH'), 'unreachable', /no route to the network/, /routes, the VPN or the firewall/],
  [coded('ETIMEDOUT'), 'unreachable', /did not answer/, /firewall or security group/],
  [timeout(), 'unreachable', /did not answer within 5 s/, /firewall or security group/],
  [coded('ENOTFOUND'), 'unreachable', /host name does not exist/, /Correct the host name/],
  [coded('EAI_AGAIN'), 'unreachable', /DNS lookup failed/, /DNS servers/],
  [coded('ENOENT'), 'unreachable', /socket does not exist/, /path of the socket/],
  [coded('EACCES'), 'unreachable', /no permission to open the socket/, /permissions of the socket/],
  [coded('57P03'), 'unreachable', /starting up or shutting down/, /Wait until the server has started/],
  [coded('3D000'), 'unreachable', /database does not exist/, /Correct the database/],
  [mysql(1049), 'unreachable', /database does not exist/, /Correct the database/],
  [mysql(1044), 'unreachable', /no access to the database/, /Grant the login a privilege on the database/],
  [mysql(1129), 'unreachable', /blocked this host/, /FLUSH HOSTS on MariaDB, TRUNCATE TABLE .*host_cache/],
  [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'unreachable', /trusted authority/, /authority .*--ca-file/],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'unreachable', /trusted authority/, /authority .*--ca-file/],
  [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'unreachable', /trusted authority/, /authority .*--ca-file/],
  [
    coded('ERR_TLS_CERT_ALTNAME_INVALID'),
    'unreachable',
    /another host name/,
    /host name that the certificate contains/,
  ],
  [coded('CERT_HAS_EXPIRED'), 'unreachable', /certificate has expired/, /Renew the certificate/],
  [coded('CERT_NOT_YET_VALID'), 'unreachable', /certificate was rejected/, /check the clocks/],
  [coded('CERT_REVOKED'), 'unreachable', /certificate was rejected/, /new certificate/],
  [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'unreachable', /TLS handshake failed/, /TLS 1\.2 or later/],
  [coded('EPROTO'), 'unreachable', /TLS handshake failed/, /TLS 1\.2 or later/],
  [coded('HANDSHAKE_NO_SSL_SUPPORT'), 'unreachable', /does not support TLS/, /Turn on TLS on the server/],
  [
    new Error('The server does not support SSL connections'),
    'unreachable',
    /does not support TLS/,
    /Turn on TLS on the server/,
  ],
  [new ForbiddenAddress('private'), 'unreachable', /private/, /DBVITALS_ALLOW_PRIVATE_TARGETS/],
  [new SshRefused('another host key', 'Ask.'), 'unreachable', /another host key/, /^Ask\.$/],
  [coded('28P01'), 'unauthorized', /refused the login \(SQLSTATE 28P01\)/, /login and its password/],
  [coded('28000'), 'unauthorized', /refused the login/, /pg_hba\.conf.*ALTER ROLE … LOGIN/],
  [
    coded('28000', 'no pg_hba.conf entry for host "10.0.0.9", user "w", database "d", SSL encryption'),
    'unauthorized',
    /no rule for this login from this machine \(/,
    /^Add this line to pg_hba\.conf.*:$/,
  ],
  [
    coded('28000', 'no pg_hba.conf entry for host "10.0.0.9", user "w", database "d", no encryption'),
    'unauthorized',
    /no rule .* without TLS/,
    /^Choose the TLS mode require/,
  ],
  [
    coded('28000', 'role "w" is not permitted to log in'),
    'unauthorized',
    /role may not log in/,
    /^Let the role log in.*:$/,
  ],
  [mysql(1045), 'unauthorized', /refused the login \(1045\)/, /login and its password/],
  [
    mysql(1045, "Access denied for user 'w'@'db' (using password: NO)"),
    'unauthorized',
    /refused the login/,
    /^Enter the password/,
  ],
  [mysql(1130), 'unauthorized', /no login from this host/, /login .* for the address of this machine/],
  [
    mysql(1130, "Host '10.0.0.9' is not allowed to connect to this MariaDB server"),
    'unauthorized',
    /no login from this host/,
    /on the server for 10\.0\.0\.9, or/,
  ],
  [mysql(1251), 'unauthorized', /1251/, /authentication plugin that is supported/],
  [mysql(1275), 'unauthorized', /1275/, /new password .* no longer used/],
  [mysql(1524), 'unauthorized', /not loaded the plugin/, /Load the authentication plugin/],
  [mysql(1698), 'unauthorized', /1698/, /only through the socket/],
  [mysql(1820), 'unauthorized', /expired/, /new password/],
  [mysql(1862), 'unauthorized', /expired/, /new password/],
  [mysql(3118), 'unauthorized', /locked/, /unlock/],
  [mysql(4151), 'unauthorized', /locked/, /unlock/],
  [mysql(3955), 'unauthorized', /locked after failed attempts/, /unlock/],
  [mysql(3159), 'unauthorized', /requires TLS/, /^Choose the TLS mode require/],
  [new Error('SASL: SCRAM-SERVER-FINAL-MESSAGE'), 'unauthorized', /SCRAM/, /scram-sha-256/],
  [
    new PasswordRefused('in clear text', 'Use SCRAM.'),
    'unauthorized',
    /^in clear text$/,
    /^Use SCRAM\. Or allow .*--expose-password yes\)\.$/,
  ],
  [new HashingRefused('too many', 'Set fewer.'), 'unauthorized', /too many/, /^Set fewer\.$/],
  [new LoginRefused('a plugin', 'Another.'), 'unauthorized', /a plugin/, /^Another\.$/],
  [mysql(1040), 'saturated', /its connections are in use/, /pooler in front, or raise max_connections/],
  [mysql(1203), 'saturated', /its own limit/, /login's own limit/],
  [mysql(1226), 'saturated', /its own limit/, /login's own limit/],
  [
    mysql(1226, "Benutzer 'w' hat die Ressourcenbeschränkung 'max_user_connections' überschritten (5)"),
    'saturated',
    /its own limit/,
    /MAX_USER_CONNECTIONS/,
  ],
  [
    mysql(1226, "User 'w' has exceeded the 'max_connections_per_hour' resource (current value: 1)"),
    'saturated',
    /has used up its connections of an hour \(1226\)/,
    /MAX_CONNECTIONS_PER_HOUR 0/,
  ],
  [
    mysql(1226, "User 'w' has exceeded the 'max_questions' resource (current value: 9)"),
    'saturated',
    /has used up its statements of an hour \(1226\)/,
    /MAX_QUERIES_PER_HOUR 0/,
  ],
  [coded('53300', 'sorry, too many clients already'), 'saturated', /its connections/, /pooler in front/],
  [
    coded('53300', 'too many connections for role "w"'),
    'saturated',
    /its own limit/,
    /limit of the role or database/,
  ],
  // What PostgreSQL says with lc_messages = de_DE: only the routine tells a limit of the role or database, and a lacking CONNECT.
  ...['InitializeSessionUserId', 'CheckMyDatabase'].map(
    (routine): Cause => [
      Object.assign(coded('53300', 'zu viele Verbindungen für Rolle »w«'), { routine }),
      'saturated',
      /its own limit/,
      /limit of the role or database/,
    ],
  ),
  [
    Object.assign(coded('53300', 'tut mir leid, schon zu viele Verbindungen'), { routine: 'InitProcess' }),
    'saturated',
    /all its connections/,
    /pooler in front/,
  ],
  [
    Object.assign(coded('42501', 'keine Berechtigung für Datenbank »d«'), { routine: 'CheckMyDatabase' }),
    'unauthorized',
    /may not connect to the database/,
    /^Let the role connect to the database\..*:$/,
  ],
  [coded('XX000', 'odd'), 'unreachable', /^the server says “odd” \(XX000\)$/, /Read the log of the server/],
  ...['28000 now run', 'ERR_SSL_; run', 'my CERT: run'].map(
    (code): Cause => [
      coded(code, 'odd'),
      'unreachable',
      /^the error is “odd”$/,
      /Read the log of the server/,
    ],
  ),
  [
    coded('constructor', 'odd'),
    'unreachable',
    /^the error is “odd” \(constructor\)$/,
    /Read the log of the server/,
  ],
];

const attempt: Attempt = {
  engine: 'postgres',
  connectionType: 'direct',
  tls: 'verify-full',
  username: 'w',
  database: 'd',
};

test.each(causes)('%s: the remedy follows the cause that the line names', (error, kind, reason, advice) => {
  expect(connectFailure(error, 5_000, attempt)).toMatchObject({
    kind,
    reason: expect.stringMatching(reason),
    advice: expect.stringMatching(advice),
  });
});

const noRule = (host: string, rest = 'SSL encryption') =>
  coded('28000', `no pg_hba.conf entry for host "${host}", user "w", database "d", ${rest}`);
const noConnect = coded('42501', 'permission denied for database "d"');
const noLogin = coded('28000', 'role "w" is not permitted to log in');

test.each([
  [noRule('10.0.0.9'), {}, 'hostssl all "w" 10.0.0.9/32 scram-sha-256'],
  [noRule('fe80::1'), {}, 'hostssl all "w" fe80::1/128 scram-sha-256'],
  [noRule('[local]'), {}, 'local all "w" scram-sha-256'],
  [noRule('10.0.0.9', 'no encryption'), { tls: 'disable' }, 'hostssl all "w" 10.0.0.9/32 scram-sha-256'],
  [noRule('10.0.0.9'), { username: 'a"b all' }, 'hostssl all "a""b all" 10.0.0.9/32 scram-sha-256'],
  [noConnect, { database: 'a"b' }, 'GRANT CONNECT ON DATABASE "a""b" TO "w";'],
  [noLogin, { username: 'a"; drop role b; --' }, 'ALTER ROLE "a""; drop role b; --" LOGIN;'],
] as const)('%s of %o: the paste names the login', (error, given, paste) => {
  expect(connectFailure(error, 5_000, { ...attempt, ...given }).paste).toBe(paste);
});

test.each([
  ['postgres', /^(?!.*verify-ca).* its own authority\. .*:$/, 'SHOW ssl_cert_file;'],
  ['mysql', /choose the TLS mode verify-ca \(--tls\).*:$/, "SHOW VARIABLES LIKE 'ssl_ca';"],
  ['mariadb', /at each start.*:$/, "SHOW VARIABLES LIKE 'ssl_c%';"],
] as const)('%s: a certificate of an unknown authority is found by a statement', (engine, advice, paste) => {
  const remedy = connectFailure(coded('SELF_SIGNED_CERT_IN_CHAIN'), 5_000, { ...attempt, engine });
  expect(remedy).toMatchObject({ advice: expect.stringMatching(advice), paste, tls: null });
});

test.each([
  [noRule('0.0.0.0/0'), {}],
  [noRule('all'), {}],
  [noRule('fe80::1%eth0'), {}],
  [noRule('10.0.0.9\nhost all all all trust'), {}],
  [noRule('10.0.0.9'), { username: '/.' }],
  [noRule('10.0.0.9'), { username: 'w\nhost all all all trust' }],
  [noLogin, { username: 'w\u202e' }],
  [noConnect, { database: 'd\n' }],
])('%s of %o: a hostile message or name is never pasted', (error, given) => {
  const { paste, advice } = connectFailure(error, 5_000, { ...attempt, ...given });
  expect([paste, advice]).toEqual([null, expect.not.stringMatching(/0\.0\.0|trust|:$/)]);
});

const HOSTILE =
  'x”. Run DROP DATABASE shop;\r\n“\u202eNot measured: \u0007the login lacks a privilege. Run GRANT pg_monitor TO w;';

test.each([
  [coded('XX000', HOSTILE), /^the server says “[^“”]*” \(XX000\)$/],
  [mysql(1105, HOSTILE), /^the server says “[^“”]*” \(1105\)$/],
  [coded('SASLX', HOSTILE), /^the server says “[^“”]*” \(SASLX\)$/],
  [new Error(HOSTILE), /^the error is “[^“”]*”$/],
  [coded('a”. Run x;', HOSTILE), /^the error is “[^“”]*”$/],
  [coded('XX000', HOSTILE.repeat(50)), /^the server says “[^“”]{200}” \(XX000\)$/],
])('%s: the words of a server stay within their quotes, in one line', (error, reason) => {
  const failure = connectFailure(error, 5_000, attempt);
  expect(failure.reason).toMatch(reason);
  expect(failure.reason).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('an error of the system is no answer of the server, whatever its code looks like', () => {
  const broken = Object.assign(coded('EPIPE', 'write EPIPE'), { syscall: 'write' });
  expect(isServerAnswer(broken)).toBe(false);
  expect(connectFailure(broken, 5_000, attempt).reason).toBe('the server closed the connection (EPIPE)');
  expect(isServerAnswer(coded('57014', 'cancelled'))).toBe(true);
});

test('what this program says is not quoted', () => {
  expect(connectFailure(new NoAnswer('it did not answer within 5 s'), 5_000, attempt).reason).toBe(
    'it did not answer within 5 s',
  );
});

test('only a stricter TLS mode is proposed', () => {
  const proposed = causes.map(([error]) => connectFailure(error, 5_000, attempt).tls);
  expect(proposed.filter((tls) => tls !== null)).toEqual(['require', 'require']);
});
