import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program that `npm start` and the package's command start. */
export const PROGRAM = fileURLToPath(new URL('../../src/dbvitals.ts', import.meta.url));

/** The Node flags in the program's first line, their only source. */
export const SHIPPED_FLAGS: readonly string[] = firstLineFlags();

function firstLineFlags(): string[] {
  const [first = ''] = readFileSync(PROGRAM, 'utf8').split('\n');
  const [program, ...flags] = first.replace('#!/usr/bin/env -S ', '').split(' ');
  if (program !== 'node' || flags.length === 0) throw new Error(`The first line of ${PROGRAM} has no flags.`);
  return flags;
}
