import { createHash } from 'node:crypto';
import type { ChannelFormat, OpenDestination } from '../channels/channel.ts';
import type { Send } from '../sending/outgoing.ts';

/** A token is renewed so long before it ends: a request on its way may still need it. */
const SPARE_MS = 300_000;

/** The receiver's identity service gave no token. Its message is a sentence without secrets. */
export class NoToken extends Error {}

/** Gets the tokens that some receivers want in place of a lasting secret. */
export interface AccessTokens {
  /** The destination with its token, if its channel wants one. Throws a {@link NoToken}. */
  authorize(format: ChannelFormat, destination: OpenDestination): Promise<OpenDestination>;
  /** Gets another token next time: the receiver refused this one. */
  forget(destination: Pick<OpenDestination, 'accountId' | 'destinationId'>): void;
}

interface HeldToken {
  token: string;
  /** Of `performance.now()`. */
  until: number;
  /** The digest of what it was got with. */
  secret: string;
}

/** Tokens of a process, each kept until shortly before it ends. A changed secret gets a new one. */
export function createAccessTokens(send: Send): AccessTokens {
  const held = new Map<string, HeldToken>();

  async function ask(format: ChannelFormat, destination: OpenDestination): Promise<string> {
    const asked = format.token?.(destination);
    if (asked === undefined) throw new Error(`The channel ${destination.channel} wants no token.`);
    const began = performance.now();
    const answer = await send(asked.request);
    const given = asked.read(answer.response);
    if (!answer.accepted || !('token' in given))
      throw new NoToken(
        `There is no token: ${answer.result}${'problem' in given ? ` (${given.problem})` : ''}`,
      );
    for (const [key, { until }] of held) if (until < began) held.delete(key);
    const until = began + given.seconds * 1_000 - SPARE_MS;
    held.set(keyOf(destination), { token: given.token, until, secret: secretOf(destination) });
    return given.token;
  }

  return {
    async authorize(format, destination) {
      if (format.token === undefined) return destination;
      const known = held.get(keyOf(destination));
      const isValid = known !== undefined && known.until > performance.now();
      const isSame = known?.secret === secretOf(destination);
      return { ...destination, token: isValid && isSame ? known.token : await ask(format, destination) };
    },
    forget(destination) {
      held.delete(keyOf(destination));
    },
  };
}

const keyOf = ({ accountId, destinationId }: Pick<OpenDestination, 'accountId' | 'destinationId'>) =>
  `${accountId} ${destinationId}`;

function secretOf({ secrets: { url, authorization } }: OpenDestination): string {
  return createHash('sha256')
    .update(JSON.stringify([url, authorization]))
    .digest('hex');
}
