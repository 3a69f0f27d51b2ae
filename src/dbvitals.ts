#!/usr/bin/env -S node --max-semi-space-size=16 --heap-growing-percent=60
// The command of the package, with the flags of `npm start`. What it imports no older Node can load, so it looks before.
const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `dbvitals needs Node ${NEEDED} or later and this is ${process.version}: install that.\n`,
  );
  process.exitCode = 1;
} else {
  await import('./main.ts');
}
