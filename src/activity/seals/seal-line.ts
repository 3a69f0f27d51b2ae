import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { SEAL_FORMAT, type SealWithLeaves } from './seal.ts';

const NUMBERS = ['account_id', 'number', 'first_id', 'last_id', 'cut_to'] as const;
const TEXTS = ['last_at', 'leaves_sha256', 'previous', 'public_key', 'sealed_at'] as const;

/** A seal as a line of a file: `{"seal": …, "signature": …, "leaves": base64 or null}`. */
export function sealLine({ seal, signature, leaves }: SealWithLeaves): string {
  return `${JSON.stringify({ seal, signature, leaves: leaves?.toString('base64') ?? null })}\n`;
}

/** Parses the seal of a line; null if the line is not a seal, for example after a crash. */
export function parseSealLine(line: string): SealWithLeaves | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isRecord(parsed)) return null;
  const { seal, signature, leaves } = parsed;
  if (typeof signature !== 'string' || !(leaves === null || typeof leaves === 'string')) return null;
  if (!isSeal(seal)) return null;
  return { seal, signature, leaves: leaves === null ? null : Buffer.from(leaves, 'base64') };
}

/** Reads the seals of a file in the order of its lines, and skips other lines. Throws if the file can't be read. */
export async function* readSeals(path: string): AsyncGenerator<SealWithLeaves> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    const seal = parseSealLine(line);
    if (seal) yield seal;
  }
}

// Strict: exactly these fields are signed, so that another program computes the same hash.
function isSeal(value: unknown): value is SealWithLeaves['seal'] {
  return (
    isRecord(value) &&
    value['format'] === SEAL_FORMAT &&
    Object.keys(value).length === NUMBERS.length + TEXTS.length + 1 &&
    NUMBERS.every((name) => Number.isSafeInteger(value[name])) &&
    TEXTS.every((name) => typeof value[name] === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
