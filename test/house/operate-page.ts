import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN } from '../contract/running-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/operate');

/** A page of docs/operate, such as `tune`. */
export function operatePage(name: string): string {
  return readFileSync(join(PAGES, `${name}.md`), 'utf8');
}

/** The fenced `sh` blocks of a page, in order. */
export function commandsOf(page: string): string[] {
  return blocksOf(page).map(({ script }) => script);
}

/** The fenced `sh` blocks of a page, each with the lines that the page shows below it as output. */
export function blocksOf(page: string): { script: string; output: string[] }[] {
  const blocks = page.matchAll(/^```sh\n(.*?)^```$(?:\n\n((?: {4}[^\n]*\n)+))?/gms);
  return [...blocks].map(([, script = '', shown = '']) => ({
    script,
    output: shown.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.slice(4)])),
  }));
}

/** Writes an executable `dbvitals` into the folder that runs this checkout. */
export function putCommand(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'dbvitals'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, {
    mode: 0o755,
  });
}
