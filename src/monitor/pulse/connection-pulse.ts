import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import type { Deadlock } from '../../runs/episodes/deadlock.ts';
import type { LoadMinute } from '../../runs/load/session-load.ts';
import { errorFields } from '../../store/store-failure.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { TokenFailed } from '../tokens/token-command.ts';
import type { AccountChildren } from './account-children.ts';
import type { ClaimedPulse } from './claim-pulses.ts';
import type { CloseLooks } from './close-looks.ts';
import { EpisodeOutbox } from './episode-outbox.ts';
import type { PulseAnswer } from './held-session.ts';
import { type LoadedPulse, withoutToken, withToken } from './load-pulse.ts';
import type { PulseEvidence } from './pulse-conditions.ts';
import { NO_OUTCOME, nextOutcome, nextPulse, type PulseOutcome } from './pulse-pace.ts';
import type { PulseReading } from './reading/pulse-reading.ts';
import type { SentDeadlock } from './reading/read-deadlock.ts';
import { type Episodes, seesShortWait, trackEpisodes } from './track-episodes.ts';
import { LoadRecorder } from './watch/load-recorder.ts';
import { limitWaits, NO_WAITS } from './watch/own-waits.ts';
import { FRESH_WATCH, watchPulse } from './watch/watch-pulses.ts';

type LogLine = (fields: object, message: string) => void;

/** A log of which each line has fields and a message. */
interface PulseLog {
  info: LogLine;
  warn: LogLine;
  error: LogLine;
  isLevelEnabled(level: string): boolean;
}

/** What the pulses of a connection share with those of others. */
export interface PulseParts {
  children: AccountChildren;
  closeLooks: CloseLooks;
  tokenCommands: NonNullable<MonitorDeps['tokenCommands']>;
  log: PulseLog;
  /** Stores an episode, or what became of it. Throws if the store fails. */
  storeEpisode(episode: BlockingEpisode): Promise<void>;
  /** Stores a deadlock that InnoDB ended. */
  storeDeadlock(deadlock: Deadlock): Promise<void>;
  /** Stores a minute of the load. */
  storeLoad(minute: LoadMinute): Promise<void>;
  /** Makes the connection's health check run now. Throws if the store fails. */
  askForRun(evidence: PulseEvidence): Promise<void>;
}

/** The pulses of one connection: one after the other, as often as what they saw asks for. */
export class ConnectionPulse {
  readonly #claimed: ClaimedPulse;
  readonly #parts: PulseParts;
  #loaded: LoadedPulse;
  #everyMs: number;
  #watch = FRESH_WATCH;
  #waits = NO_WAITS;
  #episodes: Episodes = new Map();
  readonly #outbox: EpisodeOutbox;
  #load = new LoadRecorder();
  /** What a run could not be asked for. */
  #unasked: PulseEvidence | null = null;
  #last = NO_OUTCOME;
  #timer: NodeJS.Timeout | null = null;
  #hasEnded = false;
  /** What is on its way to the store. */
  readonly #storing = new Set<Promise<void>>();

  /** Starts them. The first is at a random instant of the first interval, so that those of many connections are spread. */
  constructor(claimed: ClaimedPulse, loaded: LoadedPulse, parts: PulseParts) {
    this.#claimed = claimed;
    this.#loaded = loaded;
    this.#parts = parts;
    this.#outbox = new EpisodeOutbox(parts.storeEpisode, (error) =>
      this.#warn(error, 'a blocking episode was not stored; the next pulse tries again'),
    );
    this.#everyMs = claimed.every * 1_000;
    this.#schedule(Math.random() * this.#everyMs);
  }

  /** Goes on with changed settings, at once if the pulses have failed. */
  change(every: number, loaded: LoadedPulse): void {
    const isElsewhere = loaded.target !== this.#loaded.target;
    this.#loaded = loaded;
    this.#everyMs = every * 1_000;
    if (!isElsewhere) return;
    this.#watch = FRESH_WATCH;
    this.#waits = NO_WAITS;
    this.#unasked = null;
    this.#episodes = new Map();
    this.#load = new LoadRecorder();
    this.#last = NO_OUTCOME;
    if (this.#timer) this.#schedule(0);
  }

  /** The settings that it has. */
  get loaded(): LoadedPulse {
    return this.#loaded;
  }

  /** Ends them, and resolves when all that they saw is stored, or could not be. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#parts.closeLooks.leave(this.#claimed);
    this.#storeMinute(this.#load.end());
    await Promise.allSettled([this.#outbox.settled(), ...this.#storing]);
  }

  #storeMinute(minute: LoadMinute | null): void {
    if (minute) this.#follow(this.#parts.storeLoad(minute));
  }

  #follow(storing: Promise<void>): void {
    this.#storing.add(storing);
    const stored = () => this.#storing.delete(storing);
    storing.then(stored, stored);
  }

  #schedule(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.#hasEnded
      ? null
      : setTimeout(() => void this.#pulse().catch((error) => this.#goOn(error)), ms);
  }

  async #pulse(): Promise<void> {
    this.#timer = null;
    const at = performance.now();
    const answer = this.#limitWaits(await this.#read());
    if (this.#hasEnded) return;
    const now = performance.now();
    const kind = answer === null ? 'lost' : 'failure' in answer ? answer.failure.kind : 'reading';
    let isTense = false;
    if (answer) {
      const step = watchPulse(this.#watch, answer, { at, now }, this.#loaded.thresholds);
      this.#watch = step.watch;
      isTense = step.isClose;
      const run = step.run ?? this.#unasked;
      if (run) void this.#ask(run);
      if ('reading' in answer) this.#track(answer.reading, answer.deadlock);
    }
    this.#note(kind, answer);
    const isClose = isTense && this.#parts.closeLooks.enter(this.#claimed);
    if (!isTense) this.#parts.closeLooks.leave(this.#claimed);
    const hasShortWait = answer !== null && 'reading' in answer && seesShortWait(answer.reading);
    this.#last = nextOutcome(this.#last, { kind, isClose, hasShortWait });
    this.#schedule(Math.max(0, at + nextPulse(this.#last, this.#everyMs) - performance.now()));
  }

  #limitWaits(answer: PulseAnswer | null): PulseAnswer | null {
    if (answer === null || 'failure' in answer) return answer;
    const { seen, reading } = limitWaits(this.#waits, answer.reading, performance.now());
    this.#waits = seen;
    return { ...answer, reading };
  }

  /** After an error of our own, which must end neither the process nor the pulses. */
  #goOn(error: unknown): void {
    const { accountId, connectionId } = this.#claimed;
    const { log } = this.#parts;
    log.error(
      { accountId, connectionId, ...errorFields(error, log) },
      'a pulse failed; the next one follows',
    );
    this.#schedule(this.#everyMs);
  }

  /** Asks for a run. If the store is away, the next pulse asks. */
  async #ask(evidence: PulseEvidence): Promise<void> {
    const isFirst = this.#unasked === null;
    this.#unasked = null;
    try {
      await this.#parts.askForRun(evidence);
    } catch (error) {
      if (isFirst) this.#warn(error, 'the pulse could not ask for a health check; the next one asks again');
      this.#unasked ??= evidence;
    }
  }

  /** A pulse does not wait for the store. */
  #track(reading: PulseReading, deadlock: SentDeadlock | undefined): void {
    const { episodes, stored } = trackEpisodes(this.#episodes, reading, new Date());
    this.#episodes = episodes;
    this.#outbox.send(stored);
    this.#storeMinute(this.#load.add(reading, Date.now()));
    if (deadlock) this.#follow(this.#parts.storeDeadlock({ ...deadlock, at: new Date(deadlock.at) }));
  }

  #warn(error: unknown, message: string): void {
    const { accountId, connectionId } = this.#claimed;
    const { log } = this.#parts;
    log.warn({ accountId, connectionId, ...errorFields(error, log) }, message);
  }

  /** Null if the child was lost, or none could be started. */
  async #read(): Promise<PulseAnswer | null> {
    try {
      const before = this.#loaded;
      const loaded = await withToken(before, this.#parts.tokenCommands);
      if (this.#loaded === before) this.#loaded = loaded;
      const answer = await this.#parts.children.pulse(this.#claimed.connectionId, loaded.target);
      if ('failure' in answer && answer.failure.kind === 'unauthorized') {
        const renewed = withoutToken(loaded);
        if (this.#loaded === loaded) this.#loaded = renewed;
      }
      return answer;
    } catch (error) {
      return error instanceof TokenFailed
        ? { failure: { kind: 'unauthorized', reason: `there is no token: ${error.message}` } }
        : null;
    }
  }

  /** Logs that pulses began to fail, or no longer do. */
  #note(kind: PulseOutcome['kind'], answer: PulseAnswer | null): void {
    if (kind === this.#last.kind) return;
    const { accountId, connectionId } = this.#claimed;
    const reason =
      answer === null
        ? 'the process that reads it ended'
        : 'failure' in answer
          ? answer.failure.reason
          : null;
    if (reason === null)
      this.#parts.log.info({ accountId, connectionId }, 'the pulse reads the server again');
    else this.#parts.log.warn({ accountId, connectionId, reason }, 'the pulse can not read the server');
  }
}
