import { generateKeyPairSync, hash, type KeyObject, randomBytes, sign } from 'node:crypto';

/** What a page gets from `/me/passkeys/options`, as far as an authenticator looks at it. */
export interface NewQuestion {
  challenge: string;
  rp: { id: string; name: string };
  user: { id: string; name: string };
  excludeCredentials: { id: string }[];
}

/** What a page gets from `/sign-in/passkey/options`. */
export interface Question {
  challenge: string;
  rpId: string;
}

/** A passkey that an authenticator keeps. */
interface Passkey {
  id: Buffer;
  rpId: string;
  userHandle: string;
  key: KeyObject;
  counter: number;
}

/** Where an answer departs from what a browser and an authenticator in order would give. */
interface Departure {
  origin?: string;
  rpId?: string;
  type?: string;
  /** 1 = somebody was there, 4 = and proved who they are by PIN or finger. */
  flags?: number;
  userHandle?: string;
  counter?: number;
  /** The attestation: format and statement. */
  attestation?: [format: string, statement: Map<string, Value>];
}

type Value = number | string | Buffer | Value[] | Map<number | string, Value>;

const PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

const base64url = (bytes: Buffer) => bytes.toString('base64url');
const sha256 = (data: string | Buffer) => hash('sha256', data, 'buffer');

/** CBOR (RFC 8949) of what attestations hold. */
function cbor(value: Value): Buffer {
  const head = (major: number, size: number) =>
    size < 24
      ? Buffer.of((major << 5) | size)
      : size < 256
        ? Buffer.of((major << 5) | 24, size)
        : Buffer.of((major << 5) | 25, size >> 8, size & 255);
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([head(4, value.length), ...value.map(cbor)]);
  return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)]);
}

/** ES256's public key as COSE writes it (RFC 9053, 7.1). */
function cose(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const coordinates = [x, y].map((text) => Buffer.from(text, 'base64url'));
  return cbor(
    new Map<number, Value>([
      [1, 2],
      [3, -7],
      [-1, 1],
      ...coordinates.map((bytes, at): [number, Value] => [-2 - at, bytes]),
    ]),
  );
}

/** A browser with an authenticator of its own, in software: makes passkeys by ES256 and answers by them (WebAuthn, level 3). */
export class Authenticator {
  readonly passkeys: Passkey[] = [];
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  #clientData(type: string, challenge: string, departure: Departure): Buffer {
    const { origin = this.#origin } = departure;
    return Buffer.from(
      JSON.stringify({ type: departure.type ?? type, challenge, origin, crossOrigin: false }),
    );
  }

  #data(rpId: string, flags: number, counter: number): Buffer {
    const numbers = Buffer.alloc(5);
    numbers.writeUInt8(flags);
    numbers.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), numbers]);
  }

  /** `navigator.credentials.create`; keeps the passkey. */
  make(question: NewQuestion, departure: Departure = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const id = randomBytes(32);
    const { flags = PRESENT_AND_VERIFIED, rpId = question.rp.id, counter = 0 } = departure;
    const [format, statement] = departure.attestation ?? ['none', new Map<string, Value>()];
    const data = Buffer.concat([
      this.#data(rpId, flags | HAS_CREDENTIAL, counter),
      Buffer.alloc(16),
      Buffer.of(0, id.length),
      id,
      cose(publicKey),
    ]);
    const attestation = new Map<string, Value>([
      ['fmt', format],
      ['attStmt', statement],
      ['authData', data],
    ]);
    this.passkeys.push({ id, rpId, userHandle: question.user.id, key: privateKey, counter });
    return {
      id: base64url(id),
      rawId: base64url(id),
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(this.#clientData('webauthn.create', question.challenge, departure)),
        attestationObject: base64url(cbor(attestation)),
        transports: ['internal', 'hybrid'],
        publicKeyAlgorithm: -7,
      },
    };
  }

  /** `navigator.credentials.get` by the newest passkey, which counts. */
  answer(question: Question, departure: Departure = {}) {
    const passkey = this.passkeys.at(-1);
    if (!passkey) throw new Error('this authenticator has no passkey');
    passkey.counter += 1;
    const { flags = PRESENT_AND_VERIFIED, rpId = passkey.rpId, counter = passkey.counter } = departure;
    const data = this.#data(rpId, flags, counter);
    const clientData = this.#clientData('webauthn.get', question.challenge, departure);
    return {
      id: base64url(passkey.id),
      rawId: base64url(passkey.id),
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: base64url(clientData),
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', Buffer.concat([data, sha256(clientData)]), passkey.key)),
        userHandle: departure.userHandle ?? passkey.userHandle,
      },
    };
  }
}
