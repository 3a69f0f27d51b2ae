import { buffer } from 'node:stream/consumers';
import { decodeText } from '../config/text-file.ts';

/** The text on standard input, in the encoding of any shell. */
export async function readInput(): Promise<string> {
  return decodeText(await buffer(process.stdin));
}

/** The first line on standard input. */
export async function readInputLine(): Promise<string> {
  const [line = ''] = (await readInput()).split(/\r?\n/, 1);
  return line;
}
