import { randomUUID } from 'node:crypto';
import { startRounds } from '../../platform/rounds.ts';
import { storeDeadlock } from '../../runs/episodes/deadlock.ts';
import { storeEpisode } from '../../runs/episodes/store-episode.ts';
import type { LoadMinute } from '../../runs/load/session-load.ts';
import { storeLoad } from '../../runs/load/store-load.ts';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { storeOutage } from '../store-outage.ts';
import { AccountChildren } from './account-children.ts';
import { askForRun, type ClaimedPulse, claimPulses, releasePulses } from './claim-pulses.ts';
import { CloseLooks } from './close-looks.ts';
import { ConnectionPulse } from './connection-pulse.ts';
import { type LoadedPulse, loadPulse, sameTarget } from './load-pulse.ts';

/** Between two rounds of claims. A lease lasts 20 s. */
const ROUND_MS = 8_000;

interface Pulsed {
  pulse: ConnectionPulse;
  claimed: ClaimedPulse;
}

/** The pulses of a monitor. */
export interface Pulses {
  /** How many connections have a pulse here. */
  running(): number;
  /** Closes all sessions and releases the claims. */
  stop(): Promise<void>;
}

/** What pulses need besides those of a monitor. */
export type PulseDeps = MonitorDeps & {
  /** Called after a health check was made due, so that the monitor looks at once. */
  wake(): void;
};

/** Pulses every connection that no other monitor pulses. */
export function startPulses(deps: PulseDeps, roundMs = ROUND_MS): Pulses {
  const monitor = new PulseMonitor(deps);
  const outage = storeOutage(deps.log, 'the pulse');
  const claim = () => monitor.claim().then(outage.over, outage.met);
  const rounds = startRounds(claim, { first: 0, every: roundMs });
  return {
    running: () => monitor.size,
    async stop() {
      await rounds.stop();
      await monitor.end();
    },
  };
}

class PulseMonitor {
  readonly #deps: PulseDeps;
  readonly #claimant = randomUUID();
  readonly #closeLooks = new CloseLooks();
  readonly #pulsed = new Map<number, Pulsed>();
  readonly #accounts = new Map<number, AccountChildren>();
  /** Versions of connections whose settings can't be read, which their runs say, or that need a run first. */
  readonly #unreadable = new Map<number, string>();

  constructor(deps: PulseDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#pulsed.size;
  }

  /** One round: takes what is free, and gives up what is no longer ours. */
  async claim(): Promise<void> {
    const claimed = await claimPulses(this.#deps.writer, this.#claimant);
    const ids = new Set(claimed.map(({ connectionId }) => connectionId));
    for (const id of this.#pulsed.keys()) if (!ids.has(id)) await this.#drop(id);
    for (const each of claimed) {
      const known = this.#pulsed.get(each.connectionId)?.claimed;
      if (known?.version !== each.version || known.every !== each.every) await this.#take(each);
    }
  }

  async end(): Promise<void> {
    const ending = [...this.#pulsed.values()].map(({ pulse }) => pulse.end());
    await Promise.all([...ending, ...[...this.#accounts.values()].map((children) => children.end())]);
    await releasePulses(this.#deps.writer, this.#claimant).catch(() => {}); // the claims expire
  }

  async #take(claimed: ClaimedPulse): Promise<void> {
    const { connectionId, every, version } = claimed;
    const before = this.#pulsed.get(connectionId);
    if (this.#unreadable.get(connectionId) === version) return;
    const loaded = await loadPulse(this.#deps, claimed).catch((error: unknown) => {
      if (isStoreFailure(error)) throw error; // the next round tries again
      return null;
    });
    if (!loaded) {
      this.#unreadable.set(connectionId, version);
      await this.#drop(connectionId);
      return;
    }
    this.#unreadable.delete(connectionId);
    if (before) {
      before.pulse.change(every, sameTarget(before.pulse.loaded, loaded));
      this.#pulsed.set(connectionId, { pulse: before.pulse, claimed });
      return;
    }
    this.#pulsed.set(connectionId, { pulse: this.#start(claimed, loaded), claimed });
  }

  #start(claimed: ClaimedPulse, loaded: LoadedPulse): ConnectionPulse {
    const { accountId, connectionId } = claimed;
    const key = { accountId, connectionId };
    const { writer, log, tokenCommands = {}, wake, allowPrivateTargets } = this.#deps;
    const children = this.#accounts.get(accountId) ?? new AccountChildren(allowPrivateTargets);
    this.#accounts.set(accountId, children);
    return new ConnectionPulse(claimed, loaded, {
      children,
      closeLooks: this.#closeLooks,
      tokenCommands,
      log,
      storeEpisode: (episode) => storeEpisode(writer, key, episode),
      storeDeadlock: (deadlock) =>
        storeDeadlock(writer, key, deadlock).catch((error: unknown) =>
          log.warn({ ...key, ...errorFields(error, log) }, 'a deadlock was not stored'),
        ),
      storeLoad: loadStore(this.#deps, key),
      askForRun: async (evidence) => {
        await askForRun(writer, this.#claimant, key, evidence);
        log.info({ ...key, ...evidence }, 'the pulse asks for a health check');
        wake();
      },
    });
  }

  async #drop(connectionId: number): Promise<void> {
    const dropped = this.#pulsed.get(connectionId);
    if (!dropped) return;
    this.#pulsed.delete(connectionId);
    void dropped.pulse.end();
    const { accountId } = dropped.claimed;
    const children = this.#accounts.get(accountId);
    children?.forget(connectionId);
    const isLast = [...this.#pulsed.values()].every(({ claimed }) => claimed.accountId !== accountId);
    if (!isLast) return;
    this.#accounts.delete(accountId);
    await children?.end();
  }
}

/** Of the sources of a connection, how many are remembered: those of the last minutes. */
const MOST_KNOWN = 200;

/** Stores the load of a connection. What its sources are is stored again each hour, so that the store knows which are in use. */
function loadStore(
  { writer, log }: PulseDeps,
  key: { accountId: number; connectionId: number },
): (minute: LoadMinute) => Promise<void> {
  let known = new Set<number>();
  let hour = 0;
  return async (minute) => {
    const thisHour = Math.floor(minute.at.getTime() / 3_600_000);
    if (hour !== thisHour || known.size > MOST_KNOWN) known = new Set();
    hour = thisHour;
    try {
      await storeLoad(writer, key, minute, known);
      for (const { id } of minute.sources) known.add(id);
    } catch (error) {
      log.warn({ ...key, ...errorFields(error, log) }, 'a minute of the load was not stored');
    }
  };
}
