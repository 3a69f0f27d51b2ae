import http from 'node:http';
import { signIn } from './console-session.ts';
import { type Fault, Seen } from './fault.ts';
import { ask, during } from './flooded.ts';
import { FLEET, quantile } from './load.ts';
import { onStage } from './stage.ts';

const LOOPS = 10;
const VERIFIED = '/console/api/activity/verified';
/** The number of entries in a seal. */
const ENTRIES = 4_096;

/** A stolen session requests the most expensive page in ten loops. Other tenants' latency must stay below a limit. */
export const consoleLoops: Fault = {
  fault: 'ten loops of one session verify its log without a pause',
  figure:
    "other tenants' fleet p99 ≤ 150 ms beside them, none failed; loops are refused with 429 and Retry-After",
  provoke: (extent) =>
    onStage(async (stage) => {
      const cookie = await signIn(stage, stage.id);
      await stage.command('sample-data', '--account', `${stage.id}`, '--activity', `${ENTRIES}`);
      await stage.command('activity', 'seal', '--account', `${stage.id}`);
      const other = await stage.account();
      await stage.query('update account set requests_per_minute = 100000 where account_id = $1', [other.id]);
      const quiet = await ask(stage.service.origin + FLEET, other.key, during(3));
      const seconds = extent === 'short' ? 8 : 30;
      const going = during(seconds);
      const statuses: Record<number, number> = {};
      let named = 0;
      const loops = Array.from({ length: LOOPS }, async () => {
        while (going()) {
          const { status, retryAfter } = await get(stage.service.origin + VERIFIED, cookie);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 429 && Number(retryAfter) >= 1) named += 1;
        }
      });
      const took = await ask(stage.service.origin + FLEET, other.key, going);
      await Promise.all(loops);
      const { 200: verified = 0, 429: refused = 0, ...rest } = statuses;
      return new Seen()
        .atLeast(verified, 10, 'verified')
        .atLeast(refused, LOOPS, 'refused with 429')
        .none(refused - named, 'of these without Retry-After')
        .none(Object.keys(rest).length, 'other statuses')
        .none(took.filter(Number.isNaN).length, `of ${took.length} of others failed`)
        .atMost(quantile(took, 0.5), 75, `their median ${Math.round(quantile(quiet, 0.5))} ms →`, ' ms')
        .atMost(quantile(took, 0.99), 150, `p99 ${Math.round(quantile(quiet, 0.99))} ms →`, ' ms');
    }),
};

const agent = new http.Agent({ keepAlive: true });

function get(url: string, cookie: string): Promise<{ status: number; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers: { cookie } }, (response) => {
      const { statusCode: status = 0, headers } = response;
      response.resume().once('end', () => resolve({ status, retryAfter: headers['retry-after'] }));
    });
    request.once('error', reject);
  });
}
