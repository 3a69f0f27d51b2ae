import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program as it is started, by `npm start` and by the package's command. */
export const PROGRAM = fileURLToPath(new URL('../src/dbvitals.ts', import.meta.url));

/** Node's flags that it is started with: those of its first line, where alone they are written. */
export const SHIPPED_FLAGS: readonly string[] = firstLineFlags();

function firstLineFlags(): string[] {
  const [first = ''] = readFileSync(PROGRAM, 'utf8').split('\n');
  const [program, ...flags] = first.replace('#!/usr/bin/env -S ', '').split(' ');
  if (program !== 'node' || flags.length === 0) throw new Error(`The first line of ${PROGRAM} has no flags.`);
  return flags;
}
