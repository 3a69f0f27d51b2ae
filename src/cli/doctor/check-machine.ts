import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join, resolve, sep } from 'node:path';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import { certificateOf } from '../../platform/network/tls.ts';
import { readTls } from '../../service/tls-files.ts';
import { whyUnwritable } from '../../store/data-folder.ts';
import { serverPrograms } from '../../store/server.ts';
import type { Diagnosis } from './diagnosis.ts';

const GIB = 2 ** 30;
const DAY_MS = 86_400_000;

// ACME clients renew when a third of the lifetime is left: 30 days of 90. With half of that left, renewal does not work.
const RENEWED_DAYS = 14;

// PostgreSQL stops when it can't write its log. max_wal_size of the embedded store may still need 1 GiB.
const LEAST_FREE = GIB;
const LEAST_SHARE = 0.1;

/** Checks that the secret key is readable, and not by everyone, and is kept apart from the store. `file` is DBVITALS_SECRET_KEY_FILE. */
export function checkSecret(config: Config, file: string | null): Diagnosis[] {
  const about = 'secret';
  const own = join(config.dataDir, 'secret.key');
  if (config.givenSecret === null && !existsSync(own)) {
    const message = 'The secret key will be created with the store.';
    return [{ about, status: 'ok', message, remedy: null }];
  }
  try {
    secretKeys(config);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The secret key cannot be read.';
    return [{ about, status: 'error', message, remedy: 'Restore the file from your copy.' }];
  }
  const found: Diagnosis[] = [];
  const path = config.givenSecret === null ? own : file;
  const inside = path !== null && resolve(path).startsWith(resolve(config.dataDir) + sep);
  if (inside && hasEmbedded(config)) {
    found.push({
      about,
      status: 'warning',
      message: `The secret key is in the same folder as the store, ${config.dataDir}: a copy of the folder is enough to decrypt the passwords of connections.`,
      remedy:
        'Move the file, for example to /etc/dbvitals/secret.key, and set DBVITALS_SECRET_KEY_FILE to its new path.',
    });
  }
  if (path !== null && (statSync(path).mode & 0o007) !== 0) {
    found.push({
      about,
      status: 'warning',
      message: 'Every user of this machine can read the secret key.',
      remedy: `Run chmod 600 on the file of DBVITALS_SECRET_KEY_FILE, as the user that runs dbvitals.`,
    });
  }
  const message = `The secret key comes from ${path ?? 'DBVITALS_SECRET_KEY'}.`;
  return found.length > 0 ? found : [{ about, status: 'ok', message, remedy: null }];
}

/** Checks that certificate and key match and do not expire soon. Without them, checks that API keys are not sent unencrypted. */
export function checkTls({ tlsFiles, host, trustProxy }: Config): Diagnosis[] {
  const about = 'tls';
  if (tlsFiles === null) {
    const near = host === 'localhost' || /^127\.|^::1$/.test(host);
    if (near || trustProxy.length > 0) {
      const why = near
        ? `${host} is reachable only from this machine`
        : 'the proxy in front must terminate TLS';
      return [{ about, status: 'ok', message: `Plain HTTP: ${why}.`, remedy: null }];
    }
    return [
      {
        about,
        status: 'warning',
        message: `API keys and sessions are not encrypted: the service uses plain HTTP on ${isIP(host) ? host : 'HOST'}, and no proxy is set.`,
        remedy:
          'Set TLS_CERT_FILE and TLS_KEY_FILE, or put a TLS proxy in front and set DBVITALS_TRUST_PROXY to its address.',
      },
    ];
  }
  try {
    const certificate = certificateOf(readTls(tlsFiles));
    const days = Math.floor((certificate.validToDate.getTime() - Date.now()) / DAY_MS);
    const until = certificate.validToDate.toISOString().slice(0, 10);
    const names = certificate.subjectAltName ?? 'no name, so browsers reject it';
    const found: Diagnosis[] = [];
    const remedy = 'Renew it. The service loads the new files within 5 s, without a restart.';
    if (certificate.validFromDate.getTime() > Date.now()) {
      const message = `The certificate is not valid before ${certificate.validFromDate.toISOString()}.`;
      found.push({
        about,
        status: 'error',
        message,
        remedy: "Check this machine's clock, or use another certificate.",
      });
    } else if (days < 0) {
      found.push({ about, status: 'error', message: `The certificate expired on ${until}.`, remedy });
    } else if (days < RENEWED_DAYS) {
      found.push({
        about,
        status: 'warning',
        message: `The certificate expires in ${days} days, on ${until}.`,
        remedy,
      });
    }
    if ((statSync(tlsFiles.key).mode & 0o007) !== 0) {
      const message = 'Every user of this machine can read the private key of the certificate.';
      found.push({ about, status: 'warning', message, remedy: 'Run chmod 640 on the file of TLS_KEY_FILE.' });
    }
    if (found.length > 0) return found;
    const message = `The certificate is for ${names} and expires on ${until}.`;
    return [{ about, status: 'ok', message, remedy: null }];
  } catch (error) {
    const message = error instanceof Error ? error.message : "The certificate can't be used.";
    return [
      { about, status: 'error', message, remedy: 'Replace the files: the service does not start with them.' },
    ];
  }
}

/** Whether the store is the embedded one. */
export function hasEmbedded({ databaseUrl, cells }: Config): boolean {
  return databaseUrl === null && cells === null;
}

/** Checks that the embedded PostgreSQL is installed and its data folder is writable. */
export function checkEmbedded(config: Config): Diagnosis[] {
  const { dataDir } = config;
  if (!hasEmbedded(config)) return [];
  const about = 'embedded';
  const found: Diagnosis[] = [];
  try {
    serverPrograms();
  } catch (error) {
    const [message = '', remedy = ''] = error instanceof Error ? error.message.split(': ') : [];
    found.push({ about, status: 'error', message: `${message}.`, remedy: `To fix it: ${remedy}` });
  }
  const refused = whyUnwritable(dataDir);
  if (refused !== null) {
    found.push({
      about,
      status: 'error',
      message: `The data folder ${resolve(dataDir)} is not writable (${refused}): PostgreSQL can't start in it.`,
      remedy: 'Give this user write access, or set DBVITALS_DATA_DIR to a folder that is writable.',
    });
  }
  if (found.length > 0) return found;
  const message = 'PostgreSQL is installed, and its data folder is writable.';
  return [{ about, status: 'ok', message, remedy: null }];
}

/** Checks the free space for this user on the file system of a folder, or of its nearest existing parent. */
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
      'Free up space, or set DBVITALS_ACTIVITY_DAYS. On a full disk all requests fail, because the service records each one.',
  };
}

/** Checks that seals are also kept in a file outside the store, and that the file is writable. */
export function checkSealFile(path: string | null): Diagnosis[] {
  if (path === null) {
    return [
      {
        about: 'seal file',
        status: 'warning',
        message:
          'The seals of the activity log are kept only in the store: its owner can rewrite both the log and the seals.',
        remedy:
          'Set DBVITALS_SEAL_FILE to a file that the owner of the store cannot write to (docs/seals.md).',
      },
    ];
  }
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
    return [{ about: 'seal file', status: 'ok', message: `${path} is writable.`, remedy: null }];
  } catch {
    const message = `This user can't write to ${path}.`;
    const remedy = 'Give the user that runs dbvitals write access to the file of DBVITALS_SEAL_FILE.';
    return [{ about: 'seal file', status: 'error', message, remedy }];
  }
}
