import type { Logger } from 'pino';
import type { TokenCommand } from '../../config/token-commands.ts';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import type { LoadMinute } from '../../runs/load/session-load.ts';
import { familyOf } from '../../vocabulary/engines.ts';
import { AccountChildren } from '../pulse/account-children.ts';
import { CloseLooks } from '../pulse/close-looks.ts';
import { ConnectionPulse, type PulseParts } from '../pulse/connection-pulse.ts';
import { type LoadedPulse, sameTarget } from '../pulse/load-pulse.ts';
import type { AwayJob } from './away-plan.ts';
import type { CollectorTarget, CollectorTargets } from './collector-target.ts';
import type { PulseSender } from './pulse-sender.ts';

type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** All connections of a collector are of one account, whose number it does not need. */
const ACCOUNT = 0;

/** The pulses of a collector: the same code as that of a monitor, with the events on their way to the service. */
export class CollectorPulses {
  readonly #sender: PulseSender;
  readonly #log: Log;
  readonly #children = new AccountChildren(true);
  readonly #closeLooks = new CloseLooks();
  readonly #pulses = new Map<string, { id: number; pulse: ConnectionPulse }>();
  /** The commands that print tokens, by connection. */
  readonly #commands: Record<string, TokenCommand> = {};
  #lastId = 0;

  constructor(sender: PulseSender, log: Log) {
    this.#sender = sender;
    this.#log = log;
  }

  /** Pulses these connections, and no other. */
  update(jobs: readonly AwayJob[], targets: CollectorTargets): void {
    const wanted = new Set<string>();
    for (const [name, { tokenCommand }] of targets) if (tokenCommand) this.#commands[name] = tokenCommand;
    for (const job of jobs) {
      const loaded = toLoaded(job, targets.get(job.connection));
      if (!loaded || !job.pulse) continue;
      wanted.add(job.connection);
      this.#take(job.connection, job.pulse.every, loaded);
    }
    for (const [name, { id, pulse }] of this.#pulses) {
      if (wanted.has(name)) continue;
      this.#pulses.delete(name);
      void pulse.end();
      this.#children.forget(id);
    }
  }

  /** Closes all sessions. */
  async end(): Promise<void> {
    await Promise.all([...this.#pulses.values()].map(({ pulse }) => pulse.end()));
    await this.#children.end();
  }

  #take(name: string, every: number, loaded: LoadedPulse): void {
    const known = this.#pulses.get(name);
    if (known) {
      known.pulse.change(every, sameTarget(known.pulse.loaded, loaded));
      return;
    }
    const id = ++this.#lastId;
    const claimed = { accountId: ACCOUNT, connectionId: id, every, version: '' };
    const pulse = new ConnectionPulse(claimed, loaded, this.#parts(name));
    this.#pulses.set(name, { id, pulse });
  }

  #parts(connection: string): PulseParts {
    const sender = this.#sender;
    return {
      children: this.#children,
      closeLooks: this.#closeLooks,
      tokenCommands: this.#commands,
      log: namedLog(this.#log, connection),
      storeEpisode: (episode) => sender.send({ connection, episode: toSentEpisode(episode) }),
      storeDeadlock: async (deadlock) =>
        sender.keep({ connection, deadlock: { ...deadlock, at: deadlock.at.getTime() } }),
      storeLoad: async (minute) => sender.keep({ connection, load: toSentLoad(minute) }),
      askForRun: (ask) => sender.send({ connection, ask }),
    };
  }
}

/** What pulses and looks of a connection need; null if the file has no such connection, or one of another engine. */
export function toLoaded(
  { connection, engine, pulse }: AwayJob,
  known: CollectorTarget | undefined,
): LoadedPulse | null {
  if (!known || !pulse || familyOf(known.target.engine) !== familyOf(engine)) return null;
  return {
    target: known.target,
    tokenSource: known.tokenCommand && connection,
    noTokenUntil: Number.NEGATIVE_INFINITY,
    thresholds: pulse.thresholds,
  };
}

function toSentEpisode({ began_at, seen_at, ended_at, ...episode }: BlockingEpisode) {
  const times = { began_at: began_at.getTime(), seen_at: seen_at.getTime() };
  return { ...episode, ...times, ended_at: ended_at?.getTime() ?? null };
}

function toSentLoad({ at, sources, ...minute }: LoadMinute) {
  return {
    ...minute,
    at: at.getTime(),
    sources: sources.map(({ source, sessions }) => ({ source, sessions })),
  };
}

/** A log whose lines name the connection as the collector's file does. */
function namedLog(log: Log, connection: string): PulseParts['log'] {
  const named = (level: 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    const { accountId: _account, connectionId: _id, ...rest } = { accountId: 0, connectionId: 0, ...fields };
    log[level]({ connection, ...rest }, message);
  };
  return { info: named('info'), warn: named('warn'), error: named('error'), isLevelEnabled: () => false };
}
