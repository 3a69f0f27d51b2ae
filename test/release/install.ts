import { needPackages } from '../clients/debian.ts';
import { makeRoots, type Root } from '../roots/roots.ts';
import { installOnce } from '../support/install-once.ts';

// Installs what stages need, once: packages of Debian, `npm:FOLDER` for the lock file there, `root:NAME` for a root folder.

const given = process.argv.slice(2);
const named = (kind: string) =>
  given.flatMap((name) => (name.startsWith(kind) ? [name.slice(kind.length)] : []));

const packages = given.filter((name) => !name.includes(':'));
if (packages.length > 0) needPackages(...packages);
for (const folder of named('npm:')) installOnce(folder);
await makeRoots(named('root:') as Root[]);
