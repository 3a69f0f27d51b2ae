import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Environment, embeddedUrl, startService, temporaryFolder } from '../contract/running-service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service that all files use which neither stop nor configure one. */
    console?: { origin: string; environment: Environment; storeUrl: string };
  }
}

/** Starts the service of the run, without a monitor. Files have accounts of their own there. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = temporaryFolder();
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data') };
  const service = await startService(
    {
      ...environment,
      DBVITALS_ALLOW_CONSOLE_SOCKETS: 'yes',
      DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
      // Nothing answers there. Messages are tested with a real mail server: test/receivers/.
      DBVITALS_SMTP_URL: 'smtp://127.0.0.1:9',
      DBVITALS_MAIL_FROM: 'dbvitals@example.com',
    },
    ['--no-monitor'],
  );
  const storeUrl = embeddedUrl(environment.DBVITALS_DATA_DIR)['DATABASE_URL'] ?? '';
  project.provide('console', { origin: service.origin, environment, storeUrl });
  return async () => {
    await service.stop();
    folder.remove();
  };
}
