import { CredentialError, TamperedConnection } from '../connections/credentials.ts';
import { UnpinnedTunnel } from '../monitor/pulse/load-pulse.ts';
import { Rejection } from '../platform/rejection.ts';

/** Why a connection's settings can't be used for a look at its server. The messages say what to do. */
const UNREADABLE = [CredentialError, TamperedConnection, UnpinnedTunnel];

/** Throws the error, as a conflict that the member is told if the settings of the connection can't be used. */
export function throwReadable(error: unknown): never {
  const isUnreadable = UNREADABLE.some((kind) => error instanceof kind);
  throw isUnreadable && error instanceof Error ? new Rejection('conflict', error.message) : error;
}
