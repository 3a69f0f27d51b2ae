import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/** The last printed entry according to `file`; undefined when there is no file. */
export function readState(file: string): number | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const [, id] = /^\{"after_id":(0|[1-9][0-9]{0,15})\}\n$/.exec(text) ?? [];
  if (id !== undefined && Number.isSafeInteger(Number(id))) return Number(id);
  throw new UsageError('The file of --state is not a state file: use another file, or remove it.');
}

/** Writes the file atomically: after a kill or a power cut it holds either the old or the new state. */
export function writeState(file: string, afterId: number): void {
  const draft = `${file}.new`;
  const descriptor = openSync(draft, 'w');
  try {
    writeSync(descriptor, `{"after_id":${afterId}}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(draft, file);
}
