import type { OwnCheck } from '../../checks/own/own-check.ts';
import { readTextFile } from '../../config/text-file.ts';
import { Type } from '../../platform/schema/schema.ts';
import { readFile } from '../apply/configuration-file.ts';
import { UsageError } from '../usage-error.ts';
import { ownCheckSchema, ownChecksIn } from './own-check-schema.ts';

const FileSchema = Type.Object(
  { checks: Type.Array(ownCheckSchema, { description: 'A list of own checks.' }) },
  { additionalProperties: false, description: 'A file of own checks: checks, a list.' },
);

/** Reads a file with `checks`, as in a file of `apply`. Throws an `InvalidFile` with all problems. */
export function readOwnCheckFile(path: string): OwnCheck[] {
  let text: string;
  try {
    text = readTextFile(path);
  } catch {
    throw new UsageError('--own must name a readable file.');
  }
  const { value, file } = readFile(text, path, FileSchema);
  const own = ownChecksIn(file, ['checks'], value.checks);
  file.throwProblems();
  return own;
}
