import type pg from 'pg';
import type { Logger } from 'pino';
import type { SigningCollector } from '../accounts/collectors/admit-collector.ts';
import { turnsOn } from '../http/account-turns.ts';
import { validatorOnUse } from '../http/edge/compile-schemas.ts';
import { storeLook } from '../monitor/collected/collected-look.ts';
import { storeCollected } from '../monitor/collected/store-collected.ts';
import { storePast } from '../monitor/collected/store-past.ts';
import { storePulseEvents } from '../monitor/collected/store-pulse.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { accountMoving } from '../store/directory/console-stores.ts';
import { Past, Result } from './collector-schemas.ts';
import { Look, PulseEvents } from './pulse-schemas.ts';
import { noRun } from './refusals.ts';
import { validBody } from './valid-body.ts';

/** The writer's pool of a store, which does all work of a service, has six connections. Most of that work waits for an account's log. */
const PLACES = { all: 4, ofAccount: 1 };

/** A request whose collector is proved, with its parsed body. */
export interface Proved {
  collector: SigningCollector;
  writer: pg.Pool;
  body: unknown;
  /** When the collector sent it, by its clock: milliseconds since 1970. */
  sentAt: number;
}

/** Runs what uses a connection of the pool at the account's turn, so that no account takes those of others. Throws 429. */
export function atTurn<T>(writer: pg.Pool, accountId: number, work: () => Promise<T>): Promise<T> {
  return turnsOn(writer, PLACES).run(accountId, work);
}

const isResult = validatorOnUse(Result);
const isPast = validatorOnUse(Past);
const isPulse = validatorOnUse(PulseEvents);
const isLook = validatorOnUse(Look);

/** POST /collector/result. */
export async function storeResult(
  { secret, log }: { secret: SecretKeys; log: Logger },
  { collector, writer, body }: Proved,
): Promise<object> {
  const { accountId, id: collectorId } = collector;
  const { run, at = null, measured } = validBody<Result>(isResult, body);
  const stored = await atTurn(writer, accountId, () =>
    storeCollected({ writer, secret, log }, { accountId, collectorId }, { run, at, measured }),
  );
  if (!stored) throw noRun;
  return { health_check_id: stored.id };
}

/** POST /collector/past. Each result at a turn of its own, so that a long delivery delays nobody else. What was stored before a failure is known afterwards. */
export async function storePastResults({ collector, writer, body, sentAt }: Proved): Promise<object> {
  const { accountId, id: collectorId } = collector;
  const { results } = validBody<Past>(isPast, body);
  let stored = 0;
  for (const result of results) {
    const outcome = await atTurn(writer, accountId, () =>
      storePast({ writer }, { accountId, collectorId }, result, sentAt),
    );
    if (outcome === 'moving') throw accountMoving;
    if (outcome === 'stored') stored += 1;
  }
  return { stored };
}

/** POST /collector/pulse. */
export async function storeEvents({ collector, writer, body }: Proved): Promise<object> {
  const { accountId, id: collectorId } = collector;
  const { events } = validBody<PulseEvents>(isPulse, body);
  await atTurn(writer, accountId, () => storePulseEvents(writer, { accountId, collectorId }, events));
  return {};
}

/** POST /collector/look. */
export async function storeAnswer({ collector, writer, body }: Proved): Promise<object> {
  const { accountId, id: collectorId } = collector;
  const look = validBody<Look>(isLook, body);
  const isWatched = await atTurn(writer, accountId, () =>
    storeLook(writer, { accountId, collectorId }, look),
  );
  return { watched: isWatched };
}
