import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { Diagnosis } from './admin/command.ts';
import type { Config } from './config.ts';
import { certificateOf } from './http/tls.ts';
import { urlOf } from './listen.ts';
import { readTls } from './tls-files.ts';

const TIMEOUT_MS = 3_000;

/** Whether the service of these settings answers here, is ready, and serves the certificate of the files. */
export async function lookAtService(config: Config): Promise<Diagnosis[]> {
  if (config.port === 0) return [];
  const about = 'service';
  const here = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '::1' : config.host;
  const url = `${urlOf({ ...config, host: here }, config.port)}/readyz`;
  const answer = await ask(url);
  if (answer === null) {
    const message = `No service answers at ${url}.`;
    return [{ about, status: 'warning', message, remedy: 'Start it: dbvitals serve.' }];
  }
  const { status, fingerprint } = answer;
  if (status !== 200) {
    return [
      {
        about,
        status: status === 503 ? 'warning' : 'error',
        message: `${url} answers ${status}.`,
        remedy:
          status === 503
            ? 'It stops, or its store does not answer: see its log.'
            : 'Another program may have the port: set PORT.',
      },
    ];
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

function ask(url: string): Promise<{ status: number; fingerprint: string | null } | null> {
  return new Promise((resolve) => {
    // The certificate is compared with the file; whether this machine trusts who issued it is the clients' business.
    const options = { agent: false, rejectUnauthorized: false, timeout: TIMEOUT_MS };
    const request = (url.startsWith('https:') ? tlsRequest : plainRequest)(url, options, (response) => {
      const { socket } = response;
      const fingerprint =
        socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.fingerprint256 ?? null) : null;
      resolve({ status: response.statusCode ?? 0, fingerprint });
      response.resume();
      request.destroy();
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
    request.on('close', () => resolve(null));
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
