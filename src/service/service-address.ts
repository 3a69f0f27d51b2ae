import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileIn = (dataFolder: string) => join(dataFolder, 'console-url');

/** Records where the service of a data folder can be reached, for commands that print links. Returns what removes it again. */
export function recordServiceAddress(dataFolder: string, url: string): () => void {
  const file = fileIn(dataFolder);
  writeFileSync(file, `${url}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/** Where the service of a data folder can be reached, or could before it was killed; null = none, or this user can't read it. */
export function readServiceAddress(dataFolder: string): string | null {
  try {
    const url = readFileSync(fileIn(dataFolder), 'utf8').trim();
    return /^https?:$/.test(new URL(url).protocol) ? url : null;
  } catch {
    return null;
  }
}
