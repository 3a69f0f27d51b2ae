import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

// The files that the command reads at run time.
const PARTS = ['client/src', 'console/dist', 'docs', 'migrations', 'openapi.json', 'package.json', 'src'];

// The tables that every request uses, in the order of CONTRIBUTING.md, "A migration".
const MIGRATION = `-- A column in each table that the gate reads or writes.
alter table api_key       add column later text;
alter table account       add column later text;
alter table activity_head add column later text;
alter table key_window    add column later text;
alter table activity      add column later text;
`;

/** Creates a version of dbvitals in `folder` whose schema is one migration ahead. Returns its main file. */
export function makeNewerVersion(folder: string): string {
  mkdirSync(folder);
  for (const part of PARTS) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'migrations', '9001_later.sql'), MIGRATION);
  return join(folder, 'src', 'main.ts');
}
