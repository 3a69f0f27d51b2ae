import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations/postman');
const NEWMAN = join(import.meta.dirname, 'node_modules/.bin/newman');

interface Summary {
  run: {
    stats: { requests: { total: number }; assertions: { total: number } };
    failures: { source?: { name: string }; error: { test: string; message: string } }[];
  };
}

/** newman runs the collection with the environment file filled in: nine requests, and every assertion holds. */
export function runCollection(service: SampleService): string[] {
  const folder = service.folder('postman');
  const { values, ...rest } = JSON.parse(
    readFileSync(join(PAGES, 'dbvitals.postman_environment.json'), 'utf8'),
  ) as { values: { key: string; value: string }[] };
  const given: Record<string, string> = { baseUrl: service.origin, apiKey: service.key };
  const filled = { ...rest, values: values.map((value) => ({ ...value, value: given[value.key] ?? '' })) };
  const environment = join(folder, 'environment.json');
  writeFileSync(environment, JSON.stringify(filled), { mode: 0o600 });
  const report = join(folder, 'report.json');
  const { stdout, stderr } = spawnSync(
    NEWMAN,
    [
      'run',
      join(PAGES, 'dbvitals.postman_collection.json'),
      '--environment',
      environment,
      '--reporters',
      'json',
      '--reporter-json-export',
      report,
    ],
    { cwd: folder, encoding: 'utf8', timeout: 60_000 },
  );
  let summary: Summary;
  try {
    summary = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    return [`newman wrote no report: ${stdout}${stderr}`];
  }
  const { stats, failures } = summary.run;
  const wrong = failures.map(({ source, error }) => `${source?.name}: ${error.test}: ${error.message}`);
  if (stats.requests.total !== 9) wrong.push(`newman made ${stats.requests.total} requests, not 9`);
  if (stats.assertions.total !== 26) wrong.push(`newman held ${stats.assertions.total} assertions, not 26`);
  return wrong;
}
