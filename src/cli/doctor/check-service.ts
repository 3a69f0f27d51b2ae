import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Config } from '../../config/config.ts';
import { urlOf } from '../../config/service-url.ts';
import { certificateOf } from '../../platform/network/tls.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { readTls } from '../../service/tls-files.ts';
import { STORE_HEADER } from '../../store/store-identity.ts';
import type { Diagnosis } from './diagnosis.ts';

const TIMEOUT_MS = 3_000;
const LONGEST_REASON = 200;

/**
 * Checks that the service of these settings answers on this machine, is ready, uses the store `storeId` (null = unknown) and
 * serves the certificate of the files.
 */
export async function checkService(config: Config, storeId: string | null): Promise<Diagnosis[]> {
  if (config.port === 0) return [];
  const about = 'service';
  const here = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '::1' : config.host;
  const url = `${urlOf({ ...config, host: here }, config.port)}/readyz`;
  const answer = await ask(url);
  if (answer === 'no connection') {
    const message = `No service answers at ${url}.`;
    return [{ about, status: 'warning', message, remedy: 'Start the service: "dbvitals serve".' }];
  }
  if (answer !== 'no HTTP' && answer.store === null && (await isDbvitals(url))) {
    const message = `An older version of dbvitals uses port ${config.port}: what answers at ${url} does not say which store it uses.`;
    const remedy =
      'Restart the service with this version (docs/operate/upgrade.md), or set PORT to another port.';
    return [{ about, status: 'error', message, remedy }];
  }
  if (answer === 'no HTTP' || answer.store === null) {
    const message = `Another program uses port ${config.port}: what answers at ${url} is not a dbvitals with these settings.`;
    const remedy =
      'Stop that program, or set PORT, TLS_CERT_FILE and DBVITALS_BASE_PATH to the values of the service.';
    return [{ about, status: 'error', message, remedy }];
  }
  const { status, fingerprint, store, reason } = answer;
  if (storeId !== null && store !== storeId) {
    const message = `The dbvitals that answers at ${url} uses another store.`;
    const remedy =
      'Set PORT to the port of this service, or set DBVITALS_DATA_DIR and DATABASE_URL to the store of that one.';
    return [{ about, status: 'error', message, remedy }];
  }
  if (status !== 200) {
    const message = `${url} answers ${status}${reason && `: ${reason}`}.`;
    return [{ about, status: 'warning', message, remedy: 'See the log of the service.' }];
  }
  if (config.tlsFiles && fingerprint !== fingerprintOf(config.tlsFiles)) {
    return [
      {
        about,
        status: 'warning',
        message: 'The service still serves a different certificate than TLS_CERT_FILE.',
        remedy: 'The service reloads the file every 5 s. If this persists, search its log for "TLS:".',
      },
    ];
  }
  return [{ about, status: 'ok', message: `${url} reports that the service is ready.`, remedy: null }];
}

/** What a service answers at `/readyz`. */
interface Answer {
  status: number;
  fingerprint: string | null;
  /** The line that says why it is not ready; may be empty. */
  reason: string;
  /** The identity of its store; null = the program is not dbvitals. */
  store: string | null;
}

/** Asks a service for its readiness: `no connection` = nothing listens, `no HTTP` = something else does. */
function ask(url: string): Promise<Answer | 'no connection' | 'no HTTP'> {
  return new Promise((resolve) => {
    let connected = false;
    let hasAnswered = false;
    // The certificate is compared with the file. Whether this machine trusts its issuer matters only to clients.
    const options = { agent: false, rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const request = (url.startsWith('https:') ? tlsRequest : plainRequest)(url, options, (response) => {
      const { socket } = response;
      const fingerprint =
        socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.fingerprint256 ?? null) : null;
      const store = response.headers[STORE_HEADER];
      hasAnswered = true;
      let reason = '';
      response.on('error', () => {}); // its end is all that matters
      response.setEncoding('utf8').on('data', (part: string) => {
        reason += part;
        if (reason.length > LONGEST_REASON) request.destroy();
      });
      response.on('close', () =>
        resolve({
          status: response.statusCode ?? 0,
          fingerprint,
          store: typeof store === 'string' ? store : null,
          reason: cleanText(reason, LONGEST_REASON).trim(),
        }),
      );
    });
    request.on('socket', (socket) =>
      socket.once('connect', () => {
        connected = true;
      }),
    );
    request.on('timeout', () => request.destroy());
    request.on('error', () => {});
    request.on('close', () => {
      if (!hasAnswered) resolve(connected ? 'no HTTP' : 'no connection');
    });
    request.end();
  });
}

/** Whether the program at a service's `/readyz` describes the API of dbvitals, whatever its version. */
function isDbvitals(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { agent: false, rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const ask = url.startsWith('https:') ? tlsRequest : plainRequest;
    const request = ask(url.replace(/readyz$/, 'openapi.json'), options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > TITLE_WITHIN) request.destroy();
      });
      response.on('close', () => resolve(/"title":\s*"dbvitals/i.test(text.slice(0, TITLE_WITHIN))));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.end();
  });
}

// How many characters of the description of an API are read.
const TITLE_WITHIN = 4_096;

/** The fingerprint of the certificate in the files; null = the files are not valid, which `checkTls` reports. */
function fingerprintOf(files: NonNullable<Config['tlsFiles']>): string | null {
  try {
    return certificateOf(readTls(files)).fingerprint256;
  } catch {
    return null;
  }
}
