import { readInputLine } from './read-input.ts';
import { UsageError } from './usage-error.ts';

/**
 * A connection's password: with `fromInput` the first line of standard input, else the password in the URL, or null.
 * Throws a {@link UsageError} for both together, or for empty input.
 */
export async function readPassword(
  fromInput: boolean | undefined,
  ofUrl: string | null,
): Promise<string | null> {
  if (!fromInput) return ofUrl;
  if (ofUrl !== null)
    throw new UsageError('Give the password in the URL or with --password-stdin, not both.');
  const line = await readInputLine();
  if (line === '' || line.includes('\0')) {
    throw new UsageError('--password-stdin needs the password as one line on standard input.');
  }
  return line;
}
