import { text } from 'node:stream/consumers';
import { textInQuotes } from '../../config/text-file.ts';
import { UsageError } from '../usage-error.ts';

/** The only line on standard input, which is a secret. Throws a {@link UsageError} that names the option without one. */
export async function readSecretLine(option: string): Promise<string> {
  const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
  if (textInQuotes(line) !== null) throw new UsageError(`${option}: the line is in quotes: remove them.`);
  if (line !== '' && !line.includes('\0')) return line;
  throw new UsageError(`${option} needs one line on standard input.`);
}
