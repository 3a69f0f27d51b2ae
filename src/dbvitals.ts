#!/usr/bin/env -S node --max-semi-space-size=16 --heap-growing-percent=60 --no-allocation-site-pretenuring
// The command, and the only place that has its flags. An older Node can't load main.ts, so its version is checked first.

import { setFlagsFromString } from 'node:v8';

/** The first Node that has everything the program imports: `argon2` of node:crypto came with 24.7. */
const NEEDED = [24, 7] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  process.stderr.write(
    `dbvitals needs Node ${NEEDED.join('.')} or later and this is ${process.version}: install a newer Node.\n`,
  );
  process.exitCode = 1;
} else {
  const { keepCompiledCode } = await import('./platform/compile-cache.ts');
  keepCompiledCode();
  if (process.argv[2] === 'collect') {
    // It idles beside databases for months: a young generation that stays small saves 10 MB, and V8's modes for work that nobody
    // waits for save 8 MB, because only what runs often is optimized.
    for (const flag of ['semi-space-growth-factor=1', 'efficiency-mode', 'memory-saver-mode'])
      setFlagsFromString(`--${flag}`);
  }
  await import('./main.ts');
}
