import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Config } from '../config/config.ts';
import { STORE_HEADER } from '../database/store-identity.ts';
import { certificateOf } from '../http/edge/tls.ts';
import { urlOf } from '../server/listen.ts';
import { readTls } from '../server/tls-files.ts';
import type { Diagnosis } from './diagnosis.ts';

const TIMEOUT_MS = 3_000;

/**
 * Whether the service of these settings answers here, is ready, serves the store of `storeId` (null = that is not known) and the
 * certificate of the files.
 */
export async function checkService(config: Config, storeId: string | null): Promise<Diagnosis[]> {
  if (config.port === 0) return [];
  const about = 'service';
  const here = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '::1' : config.host;
  const url = `${urlOf({ ...config, host: here }, config.port)}/readyz`;
  const answer = await ask(url);
  if (answer === 'nobody') {
    const message = `No service answers at ${url}.`;
    return [{ about, status: 'warning', message, remedy: 'Start it: dbvitals serve.' }];
  }
  if (answer === 'a stranger' || answer.store === null) {
    const message = `Another program has port ${config.port}: what answers at ${url} is no dbvitals with these settings.`;
    const remedy =
      'Stop that program, or set PORT (and TLS_CERT_FILE, DBVITALS_BASE_PATH) to those of the service.';
    return [{ about, status: 'error', message, remedy }];
  }
  const { status, fingerprint, store } = answer;
  if (storeId !== null && store !== storeId) {
    const message = `The dbvitals that answers at ${url} has another store.`;
    const remedy =
      'Set PORT to the port of this service, or DBVITALS_DATA_DIR and DATABASE_URL to the store of that one.';
    return [{ about, status: 'error', message, remedy }];
  }
  if (status !== 200) {
    const message = `${url} answers ${status}.`;
    return [{ about, status: 'warning', message, remedy: 'It stops, or its store fails: see its log.' }];
  }
  if (config.tlsFiles && fingerprint !== fingerprintOf(config.tlsFiles)) {
    return [
      {
        about,
        status: 'warning',
        message: 'The service still serves another certificate than that of TLS_CERT_FILE.',
        remedy: 'It looks every 5 s: see its log for "TLS:" if that does not pass.',
      },
    ];
  }
  return [{ about, status: 'ok', message: `${url} answers that it is ready.`, remedy: null }];
}

/** What a service says at `/readyz`. */
interface Answer {
  status: number;
  fingerprint: string | null;
  /** Which store it has; null of a program that is no dbvitals. */
  store: string | null;
}

/** Nobody where no connection is taken, a stranger where it is and no HTTP comes back. */
function ask(url: string): Promise<Answer | 'nobody' | 'a stranger'> {
  return new Promise((resolve) => {
    let connected = false;
    // The certificate is compared with the file; whether this machine trusts who issued it is the clients' business.
    const options = { agent: false, rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const request = (url.startsWith('https:') ? tlsRequest : plainRequest)(url, options, (response) => {
      const { socket } = response;
      const fingerprint =
        socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.fingerprint256 ?? null) : null;
      const store = response.headers[STORE_HEADER];
      resolve({
        ...{ status: response.statusCode ?? 0, fingerprint },
        store: typeof store === 'string' ? store : null,
      });
      response.resume();
      request.destroy();
    });
    request.on('socket', (socket) =>
      socket.once('connect', () => {
        connected = true;
      }),
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => {});
    request.on('close', () => resolve(connected ? 'a stranger' : 'nobody'));
    request.end();
  });
}

/** null = the files hold no pair, which is told by who looks at them. */
function fingerprintOf(files: NonNullable<Config['tlsFiles']>): string | null {
  try {
    return certificateOf(readTls(files)).fingerprint256;
  } catch {
    return null;
  }
}
