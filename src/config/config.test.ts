import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { settingProblems } from '../../test/support/setting-problems.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { secretKeys } from './secret-key.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HEX = '0123456789abcdef'.repeat(4);

describe('the environment', () => {
  test('has a default for everything', () => {
    const config = readConfig({ PORT: '', HOST: ' ' });
    expect(config).toEqual({
      cells: null,
      databaseUrl: null,
      pulse: true,
      poolerUrl: null,
      dataDir: '.dbvitals',
      givenSecret: null,
      host: '127.0.0.1',
      port: 8080,
      tlsFiles: null,
      basePath: '',
      metricsPort: null,
      metricsHost: '127.0.0.1',
      drainSeconds: 0,
      corsOrigins: [],
      trustProxy: [],
      allowPrivateTargets: true,
      allowPrivateDestinations: false,
      allowConsoleSockets: false,
      activityDays: null,
      sealFile: null,
      secretFile: null,
      publicUrl: null,
      tokenCommands: {},
      secretsDir: null,
      smtpUrl: null,
      mailFrom: null,
      singleSignOn: null,
      givenApiKey: null,
      logLevel: 'info',
      traces: null,
      misspelt: [],
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('is read', () => {
    const config = readConfig({
      DATABASE_URL: 'postgres://u:p@one,two:5433/store',
      DBVITALS_POOLER_URL: 'postgres://u:p@pooler:6432/store',
      DBVITALS_SECRET_KEY: HEX,
      HOST: '::',
      PORT: '0',
      TLS_CERT_FILE: 'server.pem',
      TLS_KEY_FILE: 'server.key',
      DBVITALS_BASE_PATH: '/tools/dbvitals/',
      METRICS_PORT: '9090',
      DBVITALS_DRAIN_SECONDS: '10',
      DBVITALS_CORS_ORIGINS: 'https://a.example, http://localhost:3000',
      DBVITALS_TRUST_PROXY: '10.0.0.0/8,::1',
      DBVITALS_ALLOW_PRIVATE_TARGETS: 'no',
      DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
      DBVITALS_SMTP_URL: 'smtp://ada%40example.com:p@mail.example.com',
      DBVITALS_ALLOW_CONSOLE_SOCKETS: 'yes',
      DBVITALS_ACTIVITY_DAYS: '400',
      DBVITALS_SEAL_FILE: join(folder, 'seals.ndjson'),
      DBVITALS_API_KEY: ' dbv_live_x\n',
      LOG_LEVEL: 'warn',
    });
    expect(config).toMatchObject({
      databaseUrl: 'postgres://u:p@one,two:5433/store',
      poolerUrl: 'postgres://u:p@pooler:6432/store',
      givenSecret: [Buffer.from(HEX, 'hex')],
      host: '::',
      port: 0,
      tlsFiles: { cert: 'server.pem', key: 'server.key' },
      basePath: '/tools/dbvitals',
      metricsPort: 9090,
      metricsHost: '::',
      drainSeconds: 10,
      corsOrigins: ['https://a.example', 'http://localhost:3000'],
      trustProxy: ['10.0.0.0/8', '::1'],
      allowPrivateTargets: false,
      allowPrivateDestinations: true,
      smtpUrl: 'smtp://ada%40example.com:p@mail.example.com',
      mailFrom: 'ada@example.com',
      allowConsoleSockets: true,
      activityDays: 400,
      sealFile: join(folder, 'seals.ndjson'),
      givenApiKey: 'dbv_live_x',
      logLevel: 'warn',
    });
  });

  test('has every mistake reported at once, one sentence each, without a secret', () => {
    const problems = settingProblems({
      DATABASE_URL: 'hunter2',
      DBVITALS_POOLER_URL: 'hunter2',
      DBVITALS_SECRET_KEY: 'hunter2',
      HOST: 'a b',
      PORT: '65536',
      TLS_CERT_FILE: 'hunter2.pem',
      DBVITALS_BASE_PATH: 'hunter2',
      METRICS_HOST: '-',
      METRICS_PORT: 'x',
      DBVITALS_DRAIN_SECONDS: '301',
      DBVITALS_CORS_ORIGINS: 'https://a.example/',
      DBVITALS_TRUST_PROXY: '10.0.0.0/33',
      DBVITALS_ALLOW_PRIVATE_TARGETS: 'maybe',
      DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'maybe',
      DBVITALS_SMTP_URL: 'smtp://ada:hunter2@mail.example.com/x',
      DBVITALS_MAIL_FROM: 'hunter2',
      DBVITALS_ACTIVITY_DAYS: '0',
      DBVITALS_API_KEY: 'dbv_live_hunter2 twice',
      LOG_LEVEL: 'loud',
    });
    expect(problems).toHaveLength(19);
    for (const problem of problems)
      expect(problem).toMatch(
        /^(DATABASE_URL|DBVITALS_|HOST|PORT|Set TLS_CERT_FILE|METRICS_HOST|METRICS_PORT|LOG_LEVEL).*\.$/,
      );
    expect(problems.join()).not.toContain('hunter2');
  });

  test.each(['dbvitals', '/a b', '/../x', '/.x', '//x', '/x?y', '/api', '/fleet/x', '/%61pi'])(
    'rejects %j as a base path',
    (path) =>
      expect(settingProblems({ DBVITALS_BASE_PATH: path })).toEqual([
        expect.stringMatching(/^DBVITALS_BASE_PATH must/),
      ]),
  );

  test.each(['0', '01', '-1', '1.5', '7d', '1e3', '36501', '٣'])('rejects %j as a number of days', (days) => {
    expect(settingProblems({ DBVITALS_ACTIVITY_DAYS: days })).toEqual([
      'DBVITALS_ACTIVITY_DAYS must be a whole number of days, 1 to 36500.',
    ]);
  });

  test.each(['', 'no-such-folder/seals.ndjson'])(
    'rejects %j in the folder as a seal file (empty: the folder itself)',
    (name) => {
      expect(settingProblems({ DBVITALS_SEAL_FILE: join(folder, name) })).toEqual([
        'DBVITALS_SEAL_FILE must name a file in an existing folder.',
      ]);
    },
  );

  test('must name the server behind a pooler', () => {
    expect(settingProblems({ DBVITALS_POOLER_URL: 'postgres://u:p@pooler:6432/d' })).toEqual([
      expect.stringContaining('DATABASE_URL'),
    ]);
  });

  test.each([
    [
      '?sslmode=require&channel_binding=require',
      [/^DATABASE_URL contains channel_binding=require: remove it, .*\.$/],
    ],
    ['?channel%5Fbinding=requir%65', [/^DATABASE_URL contains channel_binding=require: /]],
    ['?channel_binding=prefer&channel_binding=require', [/^DATABASE_URL contains channel_binding=require: /]],
    ['?channel_binding=hunter2', [/^DATABASE_URL contains channel_binding: it must be prefer or disable/]],
    ['?channel_binding=prefer', []],
    ...[
      'sslcrl=/x',
      'sslcrldir=/x',
      'require_auth=scram-sha-256',
      'requirepeer=postgres',
      'gssencmode=require',
    ].map((query): [string, RegExp[]] => [
      `?sslmode=verify-full&${query}`,
      [
        new RegExp(
          `^DATABASE_URL contains ${query.replace(/=.*/, '')}, which dbvitals does not support: remove it\\.`,
        ),
      ],
    ]),
    ['?ssl_min_protocol_version=TLSv1.3', [/^DATABASE_URL contains ssl_min_protocol_version, which/]],
    ['?ssl_min_protocol_version=TLSv1.2&gssencmode=prefer&sslcrl=', []],
    ['?target_session_attrs=read-write', []],
    ['?target_session_attrs=primary&sslmode=verify-full', []],
    ['?target_session_attrs=standby', [/^DATABASE_URL contains target_session_attrs: it must be read-write/]],
    [
      '?target_session_attrs=primary&target%5Fsession_attrs=any',
      [/^DATABASE_URL contains target_session_attrs: /],
    ],
    ['?target_session_attrs=hunter2', [/^DATABASE_URL contains target_session_attrs: (?!.*hunter2)/]],
    ['?sslmode=verify-full&channel_binding=disable', []],
    ['?application_name=channel_binding=require', []],
  ])('a store at …%s: neither channel binding nor a standby is promised', (parameters, sentences) => {
    const DATABASE_URL = `postgres://u:p@ep-x.neon.tech/store${parameters}`;
    const DBVITALS_POOLER_URL = DATABASE_URL;
    const said = settingProblems({ DATABASE_URL, DBVITALS_SECRET_KEY: HEX });
    expect(said).toEqual(sentences.map((sentence) => expect.stringMatching(sentence)));
    expect(said.join()).not.toContain('hunter2');
    const pooled = settingProblems({
      DATABASE_URL: 'postgres://u:p@h/d',
      DBVITALS_POOLER_URL,
      DBVITALS_SECRET_KEY: HEX,
    });
    expect(pooled).toHaveLength(sentences.length);
  });

  test('must set exactly one secret key with DATABASE_URL', () => {
    const DATABASE_URL = 'postgres://u:p@h/d';
    expect(settingProblems({ DATABASE_URL })).toHaveLength(1);
    expect(settingProblems({ DATABASE_URL, DBVITALS_SECRET_KEY: HEX })).toEqual([]);
    expect(
      settingProblems({ DBVITALS_SECRET_KEY: HEX, DBVITALS_SECRET_KEY_FILE: join(folder, 'x') }),
    ).not.toEqual([]);
  });
});

describe('the URL of the store', () => {
  test('may be in a file, but not set twice', () => {
    const [file, DATABASE_URL] = [join(folder, 'url'), 'postgres://u:hunter2@h/d'];
    writeFileSync(file, `${DATABASE_URL}\n`);
    const given = { DATABASE_URL_FILE: file, DBVITALS_SECRET_KEY: HEX };
    expect(readConfig(given).databaseUrl).toBe(DATABASE_URL);
    expect(settingProblems({ ...given, DATABASE_URL })).toEqual([
      'Set DATABASE_URL or DATABASE_URL_FILE, not both.',
    ]);
    expect(settingProblems({ DATABASE_URL_FILE: file })).toEqual([
      expect.stringContaining('needs DBVITALS_SECRET'),
    ]);
    expect(settingProblems({ ...given, DATABASE_URL_FILE: `${file}.no` })).toEqual([
      'DATABASE_URL_FILE cannot be read (ENOENT): name a readable file.',
    ]);
    writeFileSync(file, 'hunter2');
    const [wrong, ...others] = settingProblems(given);
    expect(wrong).toMatch(/^DATABASE_URL must look like/);
    expect(others).toEqual([]);
  });
});

describe('the secret', () => {
  test.each([HEX, HEX.toUpperCase(), Buffer.from(HEX, 'hex').toString('base64'), `${HEX}\n`])(
    '%j is read',
    (text) => {
      expect(secretKeys(readConfig({ DBVITALS_SECRET_KEY: text }))).toEqual([Buffer.from(HEX, 'hex')]);
      const file = join(folder, 'given');
      writeFileSync(file, text);
      expect(secretKeys(readConfig({ DBVITALS_SECRET_KEY_FILE: file }))).toEqual([Buffer.from(HEX, 'hex')]);
    },
  );

  test('may be several keys, separated by commas or lines, in this order', () => {
    const other = Buffer.alloc(32, 0xfe);
    const both = [other, Buffer.from(HEX, 'hex')];
    const [one, two] = [other.toString('base64'), HEX];
    expect(secretKeys(readConfig({ DBVITALS_SECRET_KEY: `${one}, ${two}` }))).toEqual(both);
    const file = join(folder, 'secret.key');
    writeFileSync(file, `${one}\n${two}\n`, { mode: 0o600 });
    expect(secretKeys(readConfig({ DBVITALS_SECRET_KEY_FILE: file }))).toEqual(both);
    expect(secretKeys(readConfig({ DBVITALS_DATA_DIR: folder }))).toEqual(both);
    for (const wrong of [`${one},hunter2`, `hunter2,${two}`, ',', `${HEX}${HEX}`]) {
      const problems = settingProblems({ DBVITALS_SECRET_KEY: wrong });
      expect(problems).toEqual([expect.stringMatching(/^DBVITALS_SECRET_KEY must be 32 bytes.*\.$/)]);
      expect(problems.join()).not.toMatch(/hunter2|0123/);
    }
  });

  test('in a missing or invalid file is reported', () => {
    expect(settingProblems({ DBVITALS_SECRET_KEY_FILE: join(folder, 'absent') })).toHaveLength(1);
    writeFileSync(join(folder, 'given'), 'hunter2');
    expect(settingProblems({ DBVITALS_SECRET_KEY_FILE: join(folder, 'given') })).toHaveLength(1);
  });

  test('is created once, in the data folder, readable only by its owner', () => {
    const dataDir = join(folder, 'data');
    const config = readConfig({ DBVITALS_DATA_DIR: dataDir });
    const [secret, ...others] = secretKeys(config);
    expect([secret.length, others]).toEqual([32, []]);
    expect(secretKeys(config)).toEqual([secret]);
    expect(readdirSync(dataDir)).toEqual(['secret.key']);
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()).toBe(secret.toString('hex'));
  });

  test('that other users can read, or that is damaged, is rejected and left unchanged', () => {
    const config = readConfig({ DBVITALS_DATA_DIR: folder });
    secretKeys(config);
    chmodSync(join(folder, 'secret.key'), 0o640);
    expect(() => secretKeys(config)).toThrow(/chmod 600/);
    chmodSync(join(folder, 'secret.key'), 0o600);
    writeFileSync(join(folder, 'secret.key'), 'half');
    expect(() => secretKeys(config)).toThrow(ConfigError);
    expect(readFileSync(join(folder, 'secret.key'), 'utf8')).toBe('half');
  });
});

test('the API and the metrics can not share a port of one address', () => {
  const sentence = 'PORT and METRICS_PORT are the same port: choose another METRICS_PORT, such as 9090.';
  for (const hosts of [{}, { HOST: '0.0.0.0', METRICS_HOST: '127.0.0.1' }, { METRICS_HOST: '::' }])
    expect(() => readConfig({ METRICS_PORT: '8080', ...hosts })).toThrow(
      expect.objectContaining({ problems: [sentence] }),
    );
  expect(readConfig({ METRICS_PORT: '8080', METRICS_HOST: '127.0.0.2' }).metricsPort).toBe(8080);
  expect(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort).toBe(0);
});
