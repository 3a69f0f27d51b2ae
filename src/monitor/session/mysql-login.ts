import { constants, createHash, publicEncrypt } from 'node:crypto';
import type { AuthPlugin } from 'mysql2';
import { verifiesServer } from '../../vocabulary/tls-modes.ts';
import { isVerifiedToken, LoginRefused, PasswordRefused, type Target } from './session.ts';

/**
 * The login plugins that dbvitals supports. mysql2 itself handles `mysql_native_password` and rejects plugins that
 * are not listed. dbvitals sends the whole password only over a Unix socket, over TLS to a verified server, or
 * encrypted with the pinned public key. It never encrypts with a key that the server sends: an attacker in between
 * could replace that key.
 */
export function authPlugins(target: Target): Record<string, AuthPlugin> {
  const password = Buffer.from(target.password ?? '');
  const { connectionType, tls, passwordExposable } = target;
  const bySocket = connectionType === 'unix_socket';
  const key = publicKeyOf(target.caCertificate);

  const wholePassword = (scramble: Buffer, plugin: string): Buffer => {
    const text = Buffer.concat([password, Buffer.of(0)]);
    if (bySocket || verifiesServer(tls) || (tls === 'require' && passwordExposable)) return text;
    if (tls === 'require')
      throw new PasswordRefused(
        `the server asks for the whole password (${plugin}), but its certificate is unverified`,
        'Verify the certificate: choose the TLS mode verify-ca, with the authority of the certificate (--tls, --ca-file).',
      );
    if (key !== null) {
      const hidden = text.map((byte, at) => byte ^ (scramble[at % scramble.length] ?? 0));
      return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }, hidden);
    }
    throw new LoginRefused(
      `the server asks for the whole password (${plugin}): use TLS, or pin its public key with "connection change --ca-file"`,
      'Use TLS (--tls verify-full), or pin the public key of the server (--ca-file).',
    );
  };
  const clearText = (plugin: string): AuthPlugin => {
    return () => () => {
      if (passwordExposable || (plugin === 'mysql_clear_password' && isVerifiedToken(target)))
        return Buffer.concat([password, Buffer.of(0)]);
      throw new PasswordRefused(
        `the server asks for the password in clear text (${plugin})`,
        'Use a login that does not send its password, such as one with caching_sha2_password on MySQL or ed25519 on MariaDB.',
      );
    };
  };

  return {
    caching_sha2_password() {
      let scramble: Buffer | null = null;
      return (data) => {
        if (scramble === null) {
          scramble = data.subarray(0, 20);
          return sha256Proof(password, scramble);
        }
        if (data[0] === 4) return wholePassword(scramble, 'caching_sha2_password');
        return null; // 3: the proof was enough
      };
    },
    sha256_password: () => (scramble) => wholePassword(scramble.subarray(0, 20), 'sha256_password'),
    client_ed25519: () => async (scramble) => {
      if (tls === 'disable' && !bySocket && connectionType !== 'ssh_tunnel')
        throw new LoginRefused(
          'the server asks for client_ed25519, which dbvitals uses only over TLS',
          'Turn on TLS for the connection (--tls).',
        );
      return await signWithPassword(password, scramble.subarray(0, 32));
    },
    mysql_clear_password: clearText('mysql_clear_password'),
    dialog: clearText('dialog'),
  };
}

/** The first public key in a PEM text, such as MySQL's `caching_sha2_password_public_key_path`; null if it has none. */
function publicKeyOf(pem: string | null): string | null {
  const block = /-----BEGIN (?:RSA )?PUBLIC KEY-----[\s\S]+?-----END (?:RSA )?PUBLIC KEY-----/;
  return block.exec(pem ?? '')?.[0] ?? null;
}

// SHA256(password) xor SHA256(SHA256(SHA256(password)), scramble), as in MySQL's protocol documentation.
function sha256Proof(password: Buffer, scramble: Buffer): Buffer {
  if (password.length === 0) return Buffer.alloc(0);
  const once = digest('sha256', password);
  const mask = digest('sha256', digest('sha256', once), scramble);
  return Buffer.from(once.map((byte, at) => byte ^ (mask[at] ?? 0)));
}

/**
 * MariaDB's ed25519 login: an RFC 8032 signature with the password, of any length, in place of the 32-byte private
 * key. Node's crypto can't make it.
 */
export async function signWithPassword(password: Buffer, message: Buffer): Promise<Buffer> {
  const { ed25519 } = await import('@noble/curves/ed25519.js'); // 20 ms that other logins save
  const { BASE, Fn } = ed25519.Point;
  const hash = digest('sha512', password);
  const clamped = Buffer.from(hash.subarray(0, 32));
  clamped[0] = (clamped[0] ?? 0) & 248;
  clamped[31] = ((clamped[31] ?? 0) & 63) | 64;
  const secret = Fn.create(littleEndian(clamped));
  const nonce = Fn.create(littleEndian(digest('sha512', hash.subarray(32), message)));
  const commitment = BASE.multiply(nonce).toBytes();
  const publicKey = BASE.multiply(secret).toBytes();
  const challenge = Fn.create(littleEndian(digest('sha512', commitment, publicKey, message)));
  return Buffer.concat([commitment, Fn.toBytes(Fn.create(nonce + challenge * secret))]);
}

function digest(algorithm: string, ...parts: Uint8Array[]): Buffer {
  const hash = createHash(algorithm);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
