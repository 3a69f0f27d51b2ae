import type pg from 'pg';
import type { Logger } from 'pino';
import type { SigningCollector } from '../accounts/collectors/admit-collector.ts';
import { turnsOn } from '../http/account-turns.ts';
import { validatorOnUse } from '../http/edge/compile-schemas.ts';
import type { CollectorKey } from '../monitor/collected/claim-collected.ts';
import { storeLook } from '../monitor/collected/collected-look.ts';
import { storeCollected } from '../monitor/collected/store-collected.ts';
import { storePast } from '../monitor/collected/store-past.ts';
import { findPulsed, storePulseEvent } from '../monitor/collected/store-pulse.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { accountMoving } from '../store/directory/console-stores.ts';
import type { AccountPace } from './account-pace.ts';
import { Past, Result } from './collector-schemas.ts';
import { Look, PulseEvents } from './pulse-schemas.ts';
import { noRun } from './refusals.ts';
import { validBody } from './valid-body.ts';

/** The writer's pool of a store, which does all work of a service, has six connections. Most of that work waits for an account's log. */
const PLACES = { all: 4, ofAccount: 1 };

/** The largest result of a run, as it is sent and unpacked. */
const LARGEST_RESULT = 4 * 1024 * 1024;
/** The answer of a server has 256 KiB at most. */
const LARGEST_LOOK = 512 * 1024;

/** A request whose collector is proved. */
export interface Proved {
  collector: SigningCollector;
  writer: pg.Pool;
  /** When the collector sent it, by its clock: milliseconds since 1970. */
  sentAt: number;
}

/** What deliveries need besides. */
export interface DeliveryParts {
  secret: SecretKeys;
  log: Logger;
  pace: AccountPace;
}

/** Runs what uses a connection of the pool at the account's turn, so that no account takes those of others. Throws 429. */
export function atTurn<T>(writer: pg.Pool, accountId: number, work: () => Promise<T>): Promise<T> {
  return turnsOn(writer, PLACES).run(accountId, work);
}

/** Stores a delivery. Returns the answer. */
type StoreDelivery = (parts: DeliveryParts, proved: Proved) => Promise<object>;

/** What collectors deliver at one path. */
interface Delivery {
  /** The largest body, as it is sent and unpacked. */
  bytes: number;
  /** Checks the form of a body. Returns what stores it. */
  accept(body: unknown): StoreDelivery;
}

function delivery<Body>(
  schema: object,
  bytes: number,
  store: (body: Body, parts: DeliveryParts, proved: Proved) => Promise<object>,
): Delivery {
  const validate = validatorOnUse(schema);
  return {
    bytes,
    accept(body) {
      const valid = validBody<Body>(validate, body);
      return (parts, proved) => store(valid, parts, proved);
    },
  };
}

/** What collectors deliver, by the last part of the path. */
export const DELIVERIES = {
  result: delivery<Result>(Result, LARGEST_RESULT, storeResult),
  past: delivery<Past>(Past, LARGEST_RESULT, storePastResults),
  pulse: delivery<PulseEvents>(PulseEvents, LARGEST_RESULT, storeEvents),
  look: delivery<Look>(Look, LARGEST_LOOK, storeAnswer),
};

function toKey({ accountId, id }: SigningCollector): CollectorKey {
  return { accountId, collectorId: id };
}

async function storeResult(
  { run, at, measured }: Result,
  { secret, log }: DeliveryParts,
  { collector, writer }: Proved,
): Promise<object> {
  const stored = await atTurn(writer, collector.accountId, () =>
    storeCollected({ writer, secret, log }, toKey(collector), { run, at: at ?? null, measured }),
  );
  if (!stored) throw noRun;
  return { health_check_id: stored.id };
}

/** Each result at a turn of its own, so that a long delivery delays nobody else. What was stored before a failure is known afterwards. */
async function storePastResults(
  { results }: Past,
  _parts: DeliveryParts,
  { collector, writer, sentAt }: Proved,
): Promise<object> {
  let stored = 0;
  for (const result of results) {
    const outcome = await atTurn(writer, collector.accountId, () =>
      storePast({ writer }, toKey(collector), result, sentAt),
    );
    if (outcome === 'moving') throw accountMoving;
    if (outcome === 'stored') stored += 1;
  }
  return { stored };
}

/** Each event at a turn of its own too. No schedule limits how many there are, so their time is counted. */
async function storeEvents(
  { events }: PulseEvents,
  { pace }: DeliveryParts,
  { collector, writer }: Proved,
): Promise<object> {
  const { accountId } = collector;
  const atOwnTurn = <T>(work: () => Promise<T>) =>
    atTurn(writer, accountId, () => pace.spend(accountId, work));
  const names = [...new Set(events.map(({ connection }) => connection))];
  const pulsed = await atOwnTurn(() => findPulsed(writer, toKey(collector), names));
  if (pulsed === 'moving') throw accountMoving;
  for (const event of events) {
    const key = pulsed.get(event.connection);
    if (key) await atOwnTurn(() => storePulseEvent(writer, key, event));
  }
  return {};
}

async function storeAnswer(
  look: Look,
  { pace }: DeliveryParts,
  { collector, writer }: Proved,
): Promise<object> {
  const { accountId } = collector;
  const isWatched = await atTurn(writer, accountId, () =>
    pace.spend(accountId, () => storeLook(writer, toKey(collector), look)),
  );
  return { watched: isWatched };
}
