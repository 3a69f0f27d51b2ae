import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join, resolve, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import { secretKeys } from '../config/secret-key.ts';
import { whyUnwritable } from '../database/data-folder.ts';
import { serverPrograms } from '../database/server.ts';
import { certificateOf } from '../http/edge/tls.ts';
import { readTls } from '../server/tls-files.ts';
import type { Diagnosis } from './diagnosis.ts';

const GIB = 2 ** 30;
const DAY_MS = 86_400_000;

// Those who renew do so a third of its life before the end: 30 days of 90. Who is late by half of that is not renewing.
const RENEWED_DAYS = 14;

// PostgreSQL stops when it can't write its log: 1 GiB is what max_wal_size of the embedded store may still take.
const LEAST_FREE = GIB;
const LEAST_SHARE = 0.1;

/** Whether the secret key is to be had, by whom, and whether it lies where the store does. `file` is DBVITALS_SECRET_KEY_FILE. */
export function checkSecret(config: Config, file: string | null): Diagnosis[] {
  const about = 'secret';
  const own = join(config.dataDir, 'secret.key');
  if (config.givenSecret === null && !existsSync(own)) {
    const message = 'The secret key is made with the store.';
    return [{ about, status: 'ok', message, remedy: null }];
  }
  try {
    secretKeys(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The secret key cannot be read.';
    return [{ about, status: 'error', message, remedy: 'Restore the file from where you keep a copy.' }];
  }
  const found: Diagnosis[] = [];
  const path = config.givenSecret === null ? own : file;
  const inside = path !== null && resolve(path).startsWith(resolve(config.dataDir) + sep);
  if (inside && config.databaseUrl === null) {
    found.push({
      about,
      status: 'warning',
      message: `The secret key lies beside the store, in ${config.dataDir}: who copies the folder can open the passwords of connections.`,
      remedy:
        'Move the file elsewhere, such as /etc/dbvitals/secret.key, and set DBVITALS_SECRET_KEY_FILE to it.',
    });
  }
  if (path !== null && (statSync(path).mode & 0o007) !== 0) {
    found.push({
      about,
      status: 'warning',
      message: 'Every user of this machine may read the secret key.',
      remedy: `Run chmod 600 on the file of DBVITALS_SECRET_KEY_FILE, as the user that runs dbvitals.`,
    });
  }
  const message = `The secret key is that of ${path ?? 'DBVITALS_SECRET_KEY'}.`;
  return found.length > 0 ? found : [{ about, status: 'ok', message, remedy: null }];
}

/** Whether certificate and key are a pair and how long they last; without them, whether keys travel readable. */
export function checkTls({ tlsFiles, host, trustProxy }: Config): Diagnosis[] {
  const about = 'tls';
  if (tlsFiles === null) {
    const near = host === 'localhost' || /^127\.|^::1$/.test(host);
    if (near || trustProxy.length > 0) {
      const why = near ? `${host} is reached from this machine only` : 'the proxy before it must end TLS';
      return [{ about, status: 'ok', message: `Plain HTTP: ${why}.`, remedy: null }];
    }
    return [
      {
        about,
        status: 'warning',
        message: `API keys and sessions travel readable: plain HTTP at ${isIP(host) ? host : 'HOST'}, and no proxy is named.`,
        remedy:
          'Set TLS_CERT_FILE and TLS_KEY_FILE; or put a proxy with TLS before it and name it in DBVITALS_TRUST_PROXY.',
      },
    ];
  }
  try {
    const certificate = certificateOf(readTls(tlsFiles));
    const days = Math.floor((certificate.validToDate.getTime() - Date.now()) / DAY_MS);
    const until = certificate.validToDate.toISOString().slice(0, 10);
    const names = certificate.subjectAltName ?? 'no name, which browsers refuse';
    const found: Diagnosis[] = [];
    const remedy = 'Renew it: the service takes the new files within 5 s, without a restart.';
    if (certificate.validFromDate.getTime() > Date.now()) {
      const message = `The certificate is not valid before ${certificate.validFromDate.toISOString()}.`;
      found.push({ about, status: 'error', message, remedy: "Check this machine's clock, or use another." });
    } else if (days < 0) {
      found.push({ about, status: 'error', message: `The certificate has expired on ${until}.`, remedy });
    } else if (days < RENEWED_DAYS) {
      found.push({
        about,
        status: 'warning',
        message: `The certificate expires in ${days} days, on ${until}.`,
        remedy,
      });
    }
    if ((statSync(tlsFiles.key).mode & 0o007) !== 0) {
      const message = 'Every user of this machine may read the key of the certificate.';
      found.push({ about, status: 'warning', message, remedy: 'Run chmod 640 on the file of TLS_KEY_FILE.' });
    }
    if (found.length > 0) return found;
    const message = `The certificate is for ${names}, until ${until}.`;
    return [{ about, status: 'ok', message, remedy: null }];
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The certificate cannot be served.';
    return [{ about, status: 'error', message, remedy: 'The service does not start with these files.' }];
  }
}

/** Whether the embedded PostgreSQL is installed, and its data folder can be written. */
export function checkEmbedded({ databaseUrl, dataDir }: Config): Diagnosis[] {
  if (databaseUrl !== null) return [];
  const about = 'embedded';
  const found: Diagnosis[] = [];
  try {
    serverPrograms();
  } catch (error) {
    const [message = '', remedy = ''] = error instanceof Error ? error.message.split(': ') : [];
    found.push({ about, status: 'error', message: `${message}.`, remedy: `To do: ${remedy}` });
  }
  const refused = whyUnwritable(dataDir);
  if (refused !== null) {
    found.push({
      about,
      status: 'error',
      message: `The data folder ${resolve(dataDir)} can't be written (${refused}): PostgreSQL does not start in it.`,
      remedy: 'Let this user write it, or set DBVITALS_DATA_DIR to a folder that this user may write.',
    });
  }
  if (found.length > 0) return found;
  const message = 'PostgreSQL is installed, and its data folder can be written.';
  return [{ about, status: 'ok', message, remedy: null }];
}

/** How much room the file system of a folder, or of the nearest one that is there, has for this user. */
export function checkDisk(folder: string): Diagnosis {
  let there = resolve(folder);
  while (!existsSync(there)) there = dirname(there);
  const { bavail, bsize, blocks } = statfsSync(there);
  const free = bavail * bsize;
  const share = blocks === 0 ? 0 : bavail / blocks;
  const gib = (free / GIB).toFixed(1);
  const message = `${gib} GiB (${Math.floor(100 * share)} %) are free at ${folder}.`;
  if (free >= LEAST_FREE && (share >= LEAST_SHARE || free >= 10 * LEAST_FREE)) {
    return { about: 'disk', status: 'ok', message, remedy: null };
  }
  return {
    about: 'disk',
    status: free < LEAST_FREE / 4 ? 'error' : 'warning',
    message,
    remedy:
      'Make room, or set DBVITALS_ACTIVITY_DAYS: without any every request fails, for none is answered unrecorded.',
  };
}

/** Whether seals are kept outside of the store, and can be appended to that file. */
export function checkSealFile(path: string | null): Diagnosis[] {
  if (path === null) {
    return [
      {
        about: 'seal file',
        status: 'warning',
        message:
          'Seals of the activity log are kept in the store alone: its owner can rewrite log and seals.',
        remedy: 'Set DBVITALS_SEAL_FILE to a file that the owner of the store cannot write (docs/seals.md).',
      },
    ];
  }
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
    return [{ about: 'seal file', status: 'ok', message: `${path} can be appended to.`, remedy: null }];
  } catch {
    const message = `${path} can't be written by this user.`;
    const remedy = 'Let the user that runs dbvitals write it (DBVITALS_SEAL_FILE).';
    return [{ about: 'seal file', status: 'error', message, remedy }];
  }
}
