import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

// A checkout runs src/config/package-root.ts, the package dist/src/config/package-root.js (tsconfig.build.json).
const isCheckout = extname(import.meta.filename) === '.ts';
const root = new URL(isCheckout ? '../../' : '../../../', import.meta.url);

/** A file or folder of the package by its path from the root, such as `migrations`. What the package holds says `files` in package.json. */
export function inPackage(path: string): URL {
  return new URL(path, root);
}

/** Of the package, such as `1.2.0`. */
export const { version }: { version: string } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8'));

/** What a person types before the name of a command. */
export const called = isCheckout ? 'npm run -s dbvitals --' : 'dbvitals';
