import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations');

/** The scripted input in an app's folder, called as Splunk calls it: every entry once, over several calls. */
export function runScriptedInput(service: SampleService): string[] {
  needPackages('curl', 'jq');
  const app = service.folder('splunk app');
  for (const folder of ['bin', 'local']) mkdirSync(join(app, folder));
  copyFileSync(join(PAGES, 'curl-and-jq/new-entries.sh'), join(app, 'bin/new-entries.sh'));
  writeFileSync(join(app, 'local/dbvitals.header'), `Authorization: Bearer ${service.key}\n`, {
    mode: 0o600,
  });
  const script = join(app, 'bin/dbvitals-activity.sh');
  copyFileSync(join(PAGES, 'splunk/dbvitals-activity.sh'), script);
  const call = () => {
    const { status, stdout, stderr } = spawnSync(script, [], {
      cwd: app,
      encoding: 'utf8',
      // Splunk's own libraries would break curl.
      env: { ...process.env, DBVITALS_URL: service.origin, LD_LIBRARY_PATH: '/nonexistent' },
      maxBuffer: 2 ** 26,
    });
    if (status !== 0) throw new Error(`the script ended with ${status}: ${stderr}`);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; occurred_at: string });
  };
  const [first, second] = [call(), call()];
  const entries = [...first, ...second];
  const wrong = entries.flatMap(({ id }, at) => (id === at + 1 ? [] : [`entry ${at + 1} came as ${id}`]));
  // The text from which props.conf reads the time.
  const times = entries.filter(
    ({ occurred_at }) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(occurred_at),
  );
  if (times.length > 0) wrong.push(`props.conf reads no time of ${JSON.stringify(times[0])}`);
  // The entries of a call's own requests come with the next call.
  if (first.length < 1_000 || second.length === 0)
    wrong.push(`${first.length} and ${second.length} entries came`);
  return wrong;
}
