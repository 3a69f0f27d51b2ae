import type { Check } from '../check.ts';
import { authWeak } from './auth-weak.ts';
import { clientLimit } from './client-limit.ts';
import { clientsWaiting } from './clients-waiting.ts';
import { databasePaused } from './database-paused.ts';
import { poolSaturation } from './pool-saturation.ts';
import { poolsExceedServer } from './pools-exceed-server.ts';
import { serverUnreachable } from './server-unreachable.ts';
import { startupIgnored } from './startup-ignored.ts';

/** The checks of PgBouncer, in the order of the findings. */
export const pgbouncerChecks: readonly Check[] = [
  serverUnreachable,
  databasePaused,
  clientLimit,
  clientsWaiting,
  poolSaturation,
  poolsExceedServer,
  startupIgnored,
  authWeak,
];
