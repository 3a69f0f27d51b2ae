import { SEAL_FORMAT } from '../../activity/seals/seal.ts';
import { listSealTexts } from '../../activity/seals/stored-seals.ts';
import { isoTime } from '../../activity/write-entry.ts';
import { writtenEndpoint } from '../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../http/paging.ts';
import { identifier } from '../../platform/schema/fields.ts';
import { type Static, type TString, Type } from '../../platform/schema/schema.ts';
import { itemWriter, raw, text, type WriteValue, writeList } from './write-records.ts';

const hexadecimal = (bytes: number, description: string): TString =>
  Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$`, description: `${description}; hexadecimal` });
/** These are signed as they are, so they have six decimals. */
const instant = (description: string): TString =>
  Type.String({ format: 'date-time', description: `${description}; in microseconds` });

const Seal = Type.Object(
  {
    format: Type.String({ description: `format of the signed text: ${SEAL_FORMAT}` }),
    account_id: identifier('account of the log'),
    number: identifier('1, 2, 3 … in the account'),
    first_id: identifier('first entry; last_id + 1 if the seal covers no entry and only allows retention'),
    last_id: Type.Integer({ format: 'int64', minimum: 0, description: 'last entry' }),
    last_at: instant('time of the last entry'),
    cut_to: Type.Integer({
      format: 'int64',
      minimum: 0,
      description: 'retention may delete the entries up to this one',
    }),
    leaves_sha256: hexadecimal(32, 'SHA-256 of the concatenated hashes of the entries'),
    previous: hexadecimal(32, 'SHA-256 of the text of the seal before; zeros for the first'),
    public_key: hexadecimal(32, 'Ed25519 public key that verifies the signature'),
    sealed_at: instant('time of the signature'),
    signature: hexadecimal(64, 'Ed25519 signature of the text: the other fields as canonical JSON'),
  },
  { title: 'Seal', description: 'the signature of a range of entries of the activity log' },
);

const signedTime: WriteValue = (value) => `"${isoTime(value ?? '', 6)}"`;

const writeSeal = itemWriter<Static<typeof Seal>>({
  format: text,
  account_id: raw,
  number: raw,
  first_id: raw,
  last_id: raw,
  last_at: signedTime,
  cut_to: raw,
  leaves_sha256: text,
  previous: text,
  public_key: text,
  sealed_at: signedTime,
  signature: text,
});

/** The seals of the account's log. */
export const seals = writtenEndpoint({
  path: '/activity/seals',
  operationId: 'listSeals',
  summary: 'The seals of the activity log',
  description:
    'By `number`, first to last. With them an auditor verifies that the log was not altered, without access to the store: the signed text is the JSON of all fields but `signature`, with keys in alphabetical order and without spaces. Compare `public_key` with the one that you have from `dbvitals activity seal --public-key`.',
  query: Type.Object(pagingParameters),
  response: Type.Object({ data: Type.Array(Seal), meta: Meta }),
  reuse: 'unstored',
  async write(read, { accountId, query, url }) {
    const page = readPage(query);
    const after = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
    const [total, rows] = await listSealTexts(read, accountId, { after, limit: page.perPage });
    const items = rows.map((row) => writeSeal([SEAL_FORMAT, ...row]));
    return { json: writeList(items, pageMeta(page, total)), link: pageLinks(url, page, total) };
  },
});
