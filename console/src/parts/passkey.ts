/** Whether this browser can make and use passkeys. */
export const hasPasskeys =
  'PublicKeyCredential' in globalThis &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential &&
  isSecureContext;

/**
 * Asks for a passkey of this service; what comes back is for the service.
 * @throws DOMException NotAllowedError when the person does not go on, or takes too long.
 */
export async function askPasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return asJson(await navigator.credentials.get({ publicKey }));
}

/**
 * Makes a passkey on this device or a key.
 * @throws DOMException NotAllowedError when the person does not go on, InvalidStateError when the device has one already.
 */
export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return asJson(await navigator.credentials.create({ publicKey }));
}

function asJson(credential: Credential | null): unknown {
  if (credential instanceof PublicKeyCredential) return credential.toJSON();
  throw new Error('The browser returned no passkey.');
}

/** What to say when the browser did not do it. */
export function passkeyError(error: Error): string {
  if (error.name === 'NotAllowedError')
    return 'The passkey request was cancelled or timed out. Try again, or use your password.';
  if (error.name === 'InvalidStateError') return 'This device already has a passkey for you.';
  return error.message;
}
