import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { command } from '../contract/command.ts';
import { temporaryFolder } from '../contract/running-service.ts';
import { startBouncer } from './bouncer.ts';

const environment = inject('sharedStore');

/** The error of `serve` when requests go through a PgBouncer that `edit` has misconfigured. */
async function serveThrough(
  edit: (configuration: string) => string,
  variable = 'DBVITALS_POOLER_URL',
): Promise<string> {
  const socketFolder = decodeURIComponent(new URL(environment['DATABASE_URL'] ?? '').hostname);
  const folder = temporaryFolder();
  const bouncer = await startBouncer(socketFolder, join(folder.path, 'pgbouncer'), (configuration) => {
    const edited = edit(configuration);
    expect(edited).not.toBe(configuration);
    return edited;
  });
  try {
    const url = environment['DBVITALS_POOLER_URL']?.replace(/:\d+\/dbvitals$/, `:${bouncer.port}/dbvitals`);
    const { exit, stdout, stderr } = await command(['serve', '--no-monitor'], {
      environment: { ...environment, PORT: '0', LOG_LEVEL: 'warn', [variable]: url ?? '' },
    });
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    return stderr;
  } finally {
    await bouncer.stop();
    folder.remove();
  }
}

test('a pooler that sets no role is rejected with one sentence', async () => {
  const said = await serveThrough((configuration) => configuration.replaceAll(/ connect_query='[^']*'/g, ''));
  expect(said).toMatch(/DBVITALS_POOLER_URL.*dbvitals_writer the rights of dbvitals:.*docs\/scaling\.md/);
});

test('a pooler whose reader may write is rejected', async () => {
  const said = await serveThrough((configuration) =>
    configuration.replace('set role dbvitals_reader', 'set role dbvitals_writer'),
  );
  expect(said).toMatch(/dbvitals_reader the rights of dbvitals_writer/);
});

test('a pooler without the databases of the roles is rejected', async () => {
  const said = await serveThrough((configuration) => configuration.replace('dbvitals_writer =', 'other ='));
  expect(said).toMatch(/DBVITALS_POOLER_URL can't be used: .*dbvitals_writer/);
});

// A pooler that drops the startup options also drops the role in them.
test('a pooler in DATABASE_URL is rejected, regardless of the options that it ignores', async () => {
  const asItself = (configuration: string) =>
    configuration.replace(
      'dbvitals_writer =',
      `dbvitals = host=${decodeURIComponent(new URL(environment['DATABASE_URL'] ?? '').hostname)} port=5432\ndbvitals_writer =`,
    );
  expect(await serveThrough(asItself, 'DATABASE_URL')).toMatch(
    /DATABASE_URL names a pooler: .*DBVITALS_POOLER_URL/,
  );
  const ignoring = (configuration: string) =>
    asItself(configuration).replace(
      '[pgbouncer]',
      '[pgbouncer]\nignore_startup_parameters = options, statement_timeout',
    );
  expect(await serveThrough(ignoring, 'DATABASE_URL')).toMatch(
    /dbvitals_writer the rights of dbvitals:.*docs\/scaling\.md/,
  );
});
