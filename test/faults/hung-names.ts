import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Fault, Seen } from './fault.ts';
import type { HungNamesResult } from './hung-names-stage.ts';

const STAGE = fileURLToPath(new URL('hung-names-stage.ts', import.meta.url));

/** Names of watched servers that no name server answers for. The stage has a network of its own. The short form is the same. */
export const hungNames: Fault = {
  fault: 'a resolver that never answers for the host names of 100 watched servers of an account',
  figure: 'runs and pulses of other servers are told what they are told without them, within 1 s',
  async provoke() {
    const args = ['--net', '--mount', '--propagation', 'private', process.execPath, STAGE];
    const { stdout } = await promisify(execFile)('unshare', args, { timeout: 120_000 });
    const seen: HungNamesResult = JSON.parse(stdout);
    return new Seen()
      .holds(`the run: ${seen.run}`, seen.run.includes('connection refused'))
      .atMost(seen.runMs / 1_000, 1, 'run beside them', ' s')
      .holds(`the pulse: ${seen.pulse}`, seen.pulse.startsWith('connection refused'))
      .atMost(seen.pulseMs / 1_000, 1, 'pulse beside them', ' s')
      .atMost(seen.newMs / 1_000, 1, 'first pulse of another', ' s');
  },
};
