import type { Config } from '../config/config.ts';
import { readTextFile } from '../config/text-file.ts';
import { certificateOf, type Tls } from '../platform/network/tls.ts';

/** How often the files are read, in milliseconds. Certificates are renewed days before they expire. */
const LOOK_EVERY_MS = 5_000;

type TlsFiles = NonNullable<Config['tlsFiles']>;

/** Reads certificate and key. If they can't be used, throws a sentence that says what to do. */
export function readTls({ cert, key }: TlsFiles): Tls {
  const tls = { cert: textOf('TLS_CERT_FILE', cert), key: textOf('TLS_KEY_FILE', key) };
  certificateOf(tls);
  return tls;
}

function textOf(name: string, path: string): string {
  try {
    return readTextFile(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(`${name} cannot be read${reason}: name a file that this user can read.`);
  }
}

/**
 * Passes a new pair to `renew` when the files change, and at once on SIGHUP. It compares contents, not times, because in
 * Kubernetes the files are links that are replaced. An invalid pair is logged once, and the old pair stays in use.
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
      log.info({ certificate: untilOf(found) }, 'TLS: serving the new certificate');
      const invalid = invalidNow(found);
      if (invalid !== null) log.error({}, invalid);
    } catch (error) {
      // This also happens briefly while only one of the two files is new.
      const sentence = error instanceof Error ? error.message : 'unknown';
      if (sentence !== complaint) log.error({ reason: sentence }, 'TLS: keeping the old certificate');
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

/** Why clients reject the certificate now, in a sentence; null = it is valid. */
export function invalidNow(tls: Tls): string | null {
  const { validFromDate, validToDate } = certificateOf(tls);
  if (validToDate.getTime() < Date.now())
    return `TLS: the certificate in TLS_CERT_FILE expired on ${validToDate.toISOString()}: clients reject it until you renew it`;
  if (validFromDate.getTime() > Date.now())
    return `TLS: the certificate in TLS_CERT_FILE is not valid before ${validFromDate.toISOString()}: check this machine's clock`;
  return null;
}

type Log = (fields: object, message: string) => void;

function untilOf(tls: Tls): { fingerprint: string; valid_until: string } {
  const { fingerprint256, validToDate } = certificateOf(tls);
  return { fingerprint: fingerprint256, valid_until: validToDate.toISOString() };
}
