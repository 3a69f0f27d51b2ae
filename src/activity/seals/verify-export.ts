import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type CanonicalEntry, entryText } from '../canonical-entry.ts';
import { csvHeader, csvRow } from '../csv-entry.ts';
import { isSignedText } from './seal.ts';
import { readSeals } from './seal-line.ts';
import { type Broken, type Claim, type PlacedEntry, type Verified, verifyLog } from './verify-log.ts';

/** Increase it when the files of an export change. */
export const EXPORT_FORMAT = 'dbvitals-export-1';

/** The files of an export. */
export const ENTRIES = 'entries.ndjson';
export const ENTRIES_CSV = 'entries.csv';
export const SEALS = 'seals.ndjson';
export const PUBLIC_KEY = 'public-key.pem';
export const MANIFEST = 'manifest.json';
export const SIGNATURE = 'manifest.json.sig';

/** The fields of the manifest that are used here. */
interface Manifest {
  account_id: number;
  first_id: number;
  last_id: number;
  files: Record<string, string>;
  public_keys: string[];
}

/**
 * Verifies the folder of an export, without a store. One of `publicKeys` (hexadecimal) must have signed its manifest.
 * Without them it trusts the folder's own key: compare `public_keys` with the service's. Throws if the folder is not
 * an export.
 */
export async function verifyExport(
  folder: string,
  publicKeys: readonly string[] | null,
): Promise<Verified | Broken> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => '');
  const manifest = parseManifest(text);
  if (!manifest)
    throw new Error('The folder of --from-export is not an export: name one that "activity export" made.');
  const { account_id, first_id, last_id, files, public_keys } = manifest;
  const broken = (how: Broken['how'], message: string): Broken => {
    return { verified: false, account_id, first_bad_id: first_id, how, message };
  };
  const signature = await readFile(join(folder, SIGNATURE)).catch(() => Buffer.alloc(0));
  const signers = publicKeys ?? public_keys.slice(0, 1);
  const signer = signers.find((key) => isSignedText(text, signature.toString('hex'), key));
  if (signer === undefined)
    return broken(
      'seal forged',
      `The manifest, of entries ${first_id} to ${last_id}, is forged: its signature is invalid.`,
    );

  const lines = entryLines(join(folder, ENTRIES), first_id, files[ENTRIES_CSV] !== undefined);
  const verdict = await verifyLog({
    accountId: account_id,
    claims: claims(join(folder, SEALS)),
    fromStart: false,
    entries: (_first, last) => lines.upTo(last),
    lowest: first_id,
    highest: last_id,
    cutTo: first_id - 1, // earlier entries are not checked
    trusts: (key) => key === signer || public_keys.includes(key),
  });
  if (!verdict.verified) return verdict;
  if (first_id <= last_id && verdict.last_id < last_id) {
    const from = Math.max(verdict.last_id + 1, first_id);
    return {
      ...broken('seal missing', `The seal of entry ${from} is missing in ${SEALS}.`),
      first_bad_id: from,
    };
  }
  if ((await lines.upTo(last_id + 1)).length > 0)
    return {
      ...broken('inserted', `An entry was inserted after entry ${last_id}.`),
      first_bad_id: last_id + 1,
    };
  for (const [name, sha256] of Object.entries(files)) {
    const own = await sha256Of(join(folder, name));
    if (own !== sha256 || (name === ENTRIES_CSV && own !== lines.csvSha256()))
      return broken('edited', `${name}, of entries ${first_id} to ${last_id}, is not as it was exported.`);
  }
  const keys = [...new Set([signer, ...verdict.public_keys])];
  return { ...verdict, first_id, last_id, cut_to: 0, public_keys: keys };
}

async function* claims(path: string): AsyncGenerator<Claim> {
  for await (const sealed of readSeals(path)) yield { sealed };
}

const NO_ENTRY = {
  account_id: 0,
  id: 0,
  occurred_at: '',
  page_path: '',
  request_id: null,
  api_key_id: null,
  status: null,
  method: null,
  error_code: null,
  query: null,
  source_ip: null,
  user_agent: null,
  event_number: null,
  type_number: null,
  properties: null,
};

/** Reads the entries of a file by line number. With `csv`, it also computes the SHA-256 of their CSV form. */
function entryLines(path: string, firstId: number, csv: boolean) {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  const each = lines[Symbol.asyncIterator]();
  const sha256 = createHash('sha256').update(csvHeader);
  let place = firstId;
  return {
    async upTo(last: number): Promise<PlacedEntry[]> {
      const found: PlacedEntry[] = [];
      for (; place <= last; place += 1) {
        const { value: line, done } = await each.next();
        if (done) break;
        const entry = parseEntry(line);
        if (csv) sha256.update(csvRow(entry));
        found.push({ place, entry });
      }
      return found;
    },
    csvSha256: () => sha256.copy().digest('hex'),
  };
}

/** Parses an entry. A line that is not exactly the text of an entry becomes an entry that matches no seal. */
function parseEntry(line: string): CanonicalEntry {
  try {
    const entry: CanonicalEntry = JSON.parse(line);
    if (entryText(entry) === line) return entry;
  } catch {}
  return { ...NO_ENTRY, action_type: line };
}

function parseManifest(text: string): Manifest | null {
  try {
    const manifest: Manifest & { format: unknown } = JSON.parse(text);
    return manifest.format === EXPORT_FORMAT ? manifest : null;
  } catch {
    return null;
  }
}

/** SHA-256 of a file, hexadecimal; empty if it can't be read. */
async function sha256Of(path: string): Promise<string> {
  const sha256 = createHash('sha256');
  try {
    for await (const bytes of createReadStream(path)) sha256.update(bytes);
  } catch {
    return '';
  }
  return sha256.digest('hex');
}
