import { errorCode } from '../../platform/network/error-code.ts';
import { LIMITS, TooSlow } from './send-limits.ts';

const seconds = (ms: number) => `${ms / 1_000} s`;

/** Why a host was not reached or did not answer, in one sentence; null for other errors. */
export function connectProblem(error: unknown, name: string): string | null {
  if (error instanceof TooSlow) return SLOW[error.phase](name);
  return REASONS[errorCode(error)]?.(name) ?? null;
}

const SLOW: Record<TooSlow['phase'], (name: string) => string> = {
  lookup: (name) => `The address of ${name} was not resolved within ${seconds(LIMITS.connectMs)}.`,
  connect: (name) => `${name} could not be connected to within ${seconds(LIMITS.connectMs)}.`,
  answer: (name) => `${name} did not answer within ${seconds(LIMITS.wholeMs)}.`,
};

const REASONS: Readonly<Record<string, (name: string) => string>> = {
  EAI_AGAIN: (name) =>
    `The address of ${name} could not be resolved for now (EAI_AGAIN): the name server failed.`,
  EAI_FAIL: (name) => `The address of ${name} could not be resolved (EAI_FAIL): the name server failed.`,
  ENOTFOUND: (name) => `${name} can't be found: there is no such host name (ENOTFOUND).`,
  EAI_NODATA: (name) => `${name} can't be found: its host name has no address (EAI_NODATA).`,
  ECONNREFUSED: (name) => `${name} refused the connection (ECONNREFUSED): nothing listens on that port.`,
  EHOSTUNREACH: (name) => `There is no route to ${name} (EHOSTUNREACH).`,
  ENETUNREACH: (name) => `There is no route to the network of ${name} (ENETUNREACH).`,
  EADDRNOTAVAIL: (name) => `There is no route to ${name} (EADDRNOTAVAIL).`,
  EACCES: (name) => `A firewall forbids connections to ${name} (EACCES).`,
  EPERM: (name) => `A firewall forbids connections to ${name} (EPERM).`,
  ETIMEDOUT: (name) => `${name} could not be connected to (ETIMEDOUT).`,
  ECONNRESET: (name) => `${name} closed the connection without an answer (ECONNRESET).`,
  ECONNABORTED: (name) => `${name} closed the connection without an answer (ECONNABORTED).`,
  EPIPE: (name) => `${name} closed the connection before the request was sent (EPIPE).`,
};
