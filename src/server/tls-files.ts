import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { certificateOf, type Tls } from '../http/edge/tls.ts';

/** How often the files are looked at, in milliseconds: whoever renews a certificate does so days before its end. */
const LOOK_EVERY_MS = 5_000;

type TlsFiles = NonNullable<Config['tlsFiles']>;

/** Reads certificate and key. Throws a sentence that says what to do where they can't be served with. */
export function readTls({ cert, key }: TlsFiles): Tls {
  const tls = { cert: textOf('TLS_CERT_FILE', cert), key: textOf('TLS_KEY_FILE', key) };
  certificateOf(tls);
  return tls;
}

function textOf(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(`${name} cannot be read${reason}: name a file that this user may read.`);
  }
}

/**
 * Hands a new pair to `renew` when the files hold one, and on SIGHUP at once. The contents are compared and not a time: in
 * Kubernetes the files are links that are moved. What can't be served with is logged once, and the old pair stays.
 */
export function followTls(
  files: TlsFiles,
  served: Tls,
  { log, renew }: { log: { info: Log; error: Log }; renew: (tls: Tls) => void },
): { stop(): void } {
  let current = served;
  let complaint = '';
  const look = () => {
    try {
      const found = readTls(files);
      complaint = '';
      if (found.cert === current.cert && found.key === current.key) return;
      current = found;
      renew(found);
      log.info({ certificate: untilOf(found) }, 'TLS: the new certificate is served');
    } catch (error) {
      // Also for a moment while one file is new and the other is not yet.
      const sentence = error instanceof Error ? error.message : 'unknown';
      if (sentence !== complaint) log.error({ reason: sentence }, 'TLS: the old certificate stays');
      complaint = sentence;
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  process.on('SIGHUP', look);
  return {
    stop() {
      clearInterval(timer);
      process.off('SIGHUP', look);
    },
  };
}

type Log = (fields: object, message: string) => void;

function untilOf(tls: Tls): { fingerprint: string; valid_until: string } {
  const { fingerprint256, validToDate } = certificateOf(tls);
  return { fingerprint: fingerprint256, valid_until: validToDate.toISOString() };
}
