import type { TestProject } from 'vitest/node';
import { startService } from '../contract/running-service.ts';

/** Starts the service of a run on the store and the pooler that `run.ts` sets in the environment. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { DATABASE_URL = '', DBVITALS_POOLER_URL = '', DBVITALS_SECRET_KEY = '' } = process.env;
  const environment = { DATABASE_URL, DBVITALS_POOLER_URL, DBVITALS_SECRET_KEY };
  const service = await startService(environment, ['--no-monitor']);
  project.provide('origin', service.origin);
  project.provide('environment', environment);
  project.provide('sharedStore', environment);
  project.provide('firstOutput', service.output());
  return async () => {
    await service.stop();
  };
}
