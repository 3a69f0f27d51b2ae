import { CollectedConnection } from '../../connections/collected-connection.ts';
import { lookThroughCollector } from '../collected/collected-look.ts';
import type { ConnectionKey, MonitorDeps } from '../monitor-deps.ts';
import { TokenFailed } from '../tokens/token-command.ts';
import type { PulseAnswer } from './held-session.ts';
import { type LoadedPulse, loadPulse, withoutToken, withToken } from './load-pulse.ts';
import { PulseChild } from './pulse-child.ts';

/** A person's look at a server, as pulses look at it: in a child process, on a session that stays open. */
export interface LiveLook {
  /** Reads the server once. Never throws. */
  look(): Promise<PulseAnswer>;
  end(): Promise<void>;
}

/** Prepares looks at a connection. Null if it does not exist. Throws as `loadPulse` does. That of a collector is looked at there. */
export async function openLiveLook(deps: MonitorDeps, connection: ConnectionKey): Promise<LiveLook | null> {
  try {
    const loaded = await loadPulse(deps, connection);
    return loaded && lookAt(connection.connectionId, loaded, deps);
  } catch (error) {
    if (!(error instanceof CollectedConnection)) throw error;
    return { look: () => lookThroughCollector(deps.writer, connection), end: async () => {} };
  }
}

/** Looks at a server. `id` is any number. */
export function lookAt(
  id: number,
  first: LoadedPulse,
  { tokenCommands = {}, allowPrivateTargets }: Pick<MonitorDeps, 'tokenCommands' | 'allowPrivateTargets'>,
): LiveLook {
  let loaded = first;
  let child = new PulseChild();
  return {
    async look() {
      if (child.isLost) child = new PulseChild();
      try {
        loaded = await withToken(loaded, tokenCommands);
        const answer = await child.pulse(id, loaded.target, allowPrivateTargets);
        if ('failure' in answer && answer.failure.kind === 'unauthorized') loaded = withoutToken(loaded);
        return answer;
      } catch (error) {
        return error instanceof TokenFailed
          ? { failure: { kind: 'unauthorized', reason: `there is no token: ${error.message}` } }
          : { failure: { kind: 'unread', reason: 'the process that reads it ended' } };
      }
    },
    end: () => child.end(),
  };
}
