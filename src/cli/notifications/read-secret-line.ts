import { textInQuotes } from '../../config/text-file.ts';
import { readInputLine } from '../read-input.ts';
import { UsageError } from '../usage-error.ts';

/** The only line on standard input, which is a secret. Throws a {@link UsageError} that names the option without one. */
export async function readSecretLine(option: string): Promise<string> {
  const line = await readInputLine();
  if (textInQuotes(line) !== null) throw new UsageError(`${option}: the line is in quotes: remove them.`);
  if (line !== '' && !line.includes('\0')) return line;
  throw new UsageError(`${option} needs one line on standard input.`);
}
