import { type PathLike, readFileSync } from 'node:fs';
import { trimUnseen } from '../platform/text/clean-text.ts';
import { isErrno } from './config-error.ts';

/** The text of a file or descriptor, as {@link decodeText} reads it. */
export function readTextFile(file: PathLike | number): string {
  return decodeText(readFileSync(file));
}

/** The text of bytes, as editors and shells of any system write it: UTF-8, or UTF-16, with or without a byte order mark, which is left out. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  // No text of settings, keys or YAML has NUL, which every second byte of such a text is in UTF-16.
  if (hasZeros(bytes, 1)) return new TextDecoder('utf-16le').decode(bytes);
  if (hasZeros(bytes, 0)) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder().decode(bytes);
}

/** Whether of the first characters one byte each is 0: that at `place` of two. */
function hasZeros(bytes: Uint8Array, place: 0 | 1): boolean {
  const start = bytes.subarray(0, Math.min(bytes.length, 64));
  if (start.length < 4 || start.length % 2 !== 0) return false;
  return start.every((byte, at) => (byte === 0) === (at % 2 === place));
}

const QUOTED = /^["'`\u2018-\u201f](.*)["'`\u2018-\u201f]$/s;

/**
 * The text between the quotes around it; null = it is not in quotes. `docker run --env-file`, Compose's lists and Kubernetes take
 * quotes for a part of the value, and no setting begins and ends with them.
 */
export function textInQuotes(text: string): string | null {
  return QUOTED.exec(text)?.[1] ?? null;
}

/** The text of the file that a setting names, such as a password, without the blanks around it. Throws a sentence that does not show it. */
export function readSettingFile(name: string, path: string): string {
  let text: string;
  try {
    text = trimUnseen(readTextFile(path));
  } catch (error) {
    const reason = isErrno(error) ? ` (${error.code})` : '';
    throw new Error(`${name} cannot be read${reason}: name a readable file.`);
  }
  if (textInQuotes(text) !== null)
    throw new Error(`The text in the file of ${name} is in quotes: remove them.`);
  return text;
}
