import { setTimeout as wait } from 'node:timers/promises';
import { type Extent, type Fault, Seen } from './fault.ts';
import { FLEET, get } from './load.ts';
import { onStage, UNLIMITED } from './stage.ts';

/** A key is revoked while two instances use it. Requests that start after the revoke returned must be rejected. */
export const revoke: Fault = {
  fault: 'revoke under load, 2 instances',
  figure: 'accepted after the revoke returned: 0',
  provoke: (extent: Extent) =>
    onStage(async (stage) => {
      const origins = [stage.service.origin, (await stage.instance()).origin];
      let [before, after, accepted] = [0, 0, 0];
      const times = extent === 'short' ? 3 : 10;
      for (let time = 0; time < times; time += 1) {
        const { key, keyId } = await stage.account(...UNLIMITED);
        let returned = Number.POSITIVE_INFINITY;
        const loops = Array.from({ length: 16 }, async (_, loop) => {
          for (let refused = 0; refused < 3; ) {
            const { status, started } = await get((origins[loop % 2] ?? '') + FLEET, key);
            if (started > returned) {
              after += 1;
              if (status === 200) accepted += 1;
            } else if (status === 200) before += 1;
            if (started > returned) refused += 1;
            // Rejections use up the address's budget of failed authentications.
            if (status === 401) await wait(50);
          }
        });
        await stage.command('key', 'revoke', `${keyId}`);
        returned = performance.now();
        await Promise.all(loops);
      }
      return new Seen()
        .atLeast(before, times * 20, `in ${times} revokes accepted before`)
        .atLeast(after, times * 40, 'asked after')
        .none(accepted, 'accepted after');
    }),
};
