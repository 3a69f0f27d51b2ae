import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

// A checkout runs src/platform/package-root.ts; the package runs dist/src/platform/package-root.js (tsconfig.build.json).
const isCheckout = extname(import.meta.filename) === '.ts';
const root = new URL(isCheckout ? '../../' : '../../../', import.meta.url);

/** The path of a file or folder of the package, such as `migrations`. `files` in package.json lists what the package contains. */
export function inPackage(path: string): URL {
  return new URL(path, root);
}

/** The version of the package, such as `1.2.0`. */
export const { version }: { version: string } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8'));

/** What a user types before the name of a command. */
export const called = isCheckout ? 'npm run -s dbvitals --' : 'dbvitals';
