import { type PathLike, readFileSync } from 'node:fs';
import { isErrno } from './config-error.ts';

/** The text of a file or descriptor, as editors and shells of any system write it: UTF-8, or UTF-16, with or without a byte order mark. */
export function readTextFile(file: PathLike | number): string {
  return decodeText(readFileSync(file));
}

/** The text of bytes. The byte order mark is left out. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder().decode(bytes);
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
    text = readTextFile(path).trim();
  } catch (error) {
    const reason = isErrno(error) ? ` (${error.code})` : '';
    throw new Error(`${name} cannot be read${reason}: name a readable file.`);
  }
  if (textInQuotes(text) !== null)
    throw new Error(`The text in the file of ${name} is in quotes: remove them.`);
  return text;
}
