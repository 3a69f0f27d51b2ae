import { invalidParameter } from '../platform/rejection.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';

/** What decides whether a connection may log in by token. */
interface Login {
  host: string;
  password: string | null;
  tls: TlsMode;
}

/**
 * Throws a {@link Rejection} unless a token is sent to one server only, over TLS, after its certificate was
 * verified: such a token opens every database of its owner until it ends.
 */
export function requireTokenLogin({ host, password, tls }: Login): void {
  const reason =
    tls !== 'verify-full'
      ? 'A token is sent over verified TLS only: use --tls verify-full.'
      : host.includes(',')
        ? 'A token is for one server: leave the other hosts out.'
        : password !== null
          ? 'A connection logs in by password or by token: leave the password out.'
          : null;
  if (reason !== null) throw invalidParameter('token_source', reason);
}
