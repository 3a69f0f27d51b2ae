import type { DestinationSecrets, SigningSecret } from '../channels/channel.ts';
import { newSigningKey, newSigningSecret, publicKeyOf } from '../channels/sign.ts';
import type { SignatureKind } from './destination-input.ts';

/** How long the old secret signs too, after a new one was made. */
const OLD_SECRET_MS = 24 * 3_600_000;

/** A new signing secret that never ends. */
export function makeSigning(signature: SignatureKind): SigningSecret {
  return { secret: signature === 'ed25519' ? newSigningKey() : newSigningSecret(), until: null };
}

/** The secrets with a new signing secret first. The newest old one signs for 24 hours more, unless it ends at once. */
export function rotated(
  secrets: DestinationSecrets,
  fresh: SigningSecret,
  endOld: boolean,
): readonly SigningSecret[] {
  const [old] = secrets.signing ?? [];
  if (endOld || !old) return [fresh];
  return [fresh, { ...old, until: new Date(Date.now() + OLD_SECRET_MS).toISOString() }];
}

/** What the receiver needs to verify: the shared secret, or the public key. Shown once. */
export function verifierOf({ secret }: SigningSecret): string {
  return publicKeyOf(secret) ?? secret;
}
