import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

const SCRIPT = join(import.meta.dirname, '../../docs/integrations/curl-and-jq/new-entries.sh');

/** `new-entries.sh` prints every entry once over several calls, and keeps its position when a call fails. */
export function askWithCurl(service: SampleService): string[] {
  needPackages('curl', 'jq');
  const folder = service.folder('curl');
  const header = join(folder, 'header');
  writeFileSync(header, `Authorization: Bearer ${service.key}\n`, { mode: 0o600 });
  const state = join(folder, 'state');
  const run = (origin: string) => {
    const env = { ...process.env, DBVITALS_URL: origin, DBVITALS_HEADER: header, DBVITALS_STATE: state };
    const { status, stdout } = spawnSync(SCRIPT, [], { encoding: 'utf8', env, maxBuffer: 2 ** 26 });
    const ids = [...stdout.matchAll(/^\{"id":(\d+),/gm)].map(([, id]) => Number(id));
    return { status, ids };
  };
  const calls = [run(service.origin), run('http://127.0.0.1:1'), run(service.origin), run(service.origin)];
  const wrong: string[] = [];
  const exits = calls.map(({ status }) => status).join(' ');
  if (exits !== '0 7 0 0') wrong.push(`the calls ended with ${exits}`);
  const ids = calls.flatMap((call) => call.ids);
  if (ids.length < 1_000) wrong.push(`only ${ids.length} entries came`);
  const at = ids.findIndex((id, index) => id !== index + 1);
  if (at >= 0) wrong.push(`entry ${at + 1} came as ${ids[at]}`);
  return wrong;
}
