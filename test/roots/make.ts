import { makeRoots, ROOTS } from './roots.ts';

// Makes the root folders of the servers that tests start: `npm run test:roots`. A folder that exists is kept.

await makeRoots();
console.log(`The root folders are in ${ROOTS}.`);
