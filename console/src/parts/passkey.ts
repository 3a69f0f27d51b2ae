import { send } from '../api.ts';

/** Whether this browser can make and use passkeys. */
export const hasPasskeys =
  'PublicKeyCredential' in globalThis &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential &&
  isSecureContext;

/** Asks the browser for a passkey of this service, and sends it to a route that has a challenge for it. Throws a sentence. */
export async function proveByPasskey(path: string): Promise<void> {
  const options = await send<PublicKeyCredentialRequestOptionsJSON>('POST', `${path}/options`);
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey }).catch((error: Error) => {
    throw new Error(passkeyError(error));
  });
  await send('POST', path, { response: asJson(credential) });
}

/**
 * Creates a passkey on this device or a security key.
 * @throws DOMException NotAllowedError when the person cancels, InvalidStateError when the device already has one.
 */
export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return asJson(await navigator.credentials.create({ publicKey }));
}

function asJson(credential: Credential | null): unknown {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new Error('The browser returned no passkey.');
}

/** The message for a failed passkey request. */
export function passkeyError(error: Error): string {
  if (error.name === 'NotAllowedError')
    return 'The passkey request was cancelled or timed out. Try again, or use your password.';
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.';
  return error.message;
}
