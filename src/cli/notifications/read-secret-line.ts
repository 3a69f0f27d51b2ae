import { text } from 'node:stream/consumers';
import { UsageError } from '../command.ts';

/** The only line on standard input, which is a secret. Throws a {@link UsageError} that names the option without one. */
export async function readSecretLine(option: string): Promise<string> {
  const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
  if (line !== '' && !line.includes('\0')) return line;
  throw new UsageError(`${option} needs one line on standard input.`);
}
