import { dirname, join } from 'node:path';
import { programImports } from './import-rules.ts';

/** Something that happens in the program: the files that it starts in, and the areas of src/ that are its own. */
interface Way {
  name: string;
  starts: readonly string[];
  areas: readonly string[];
}

/** The ways through the program. */
export const WAYS: readonly Way[] = [
  {
    name: 'a run, from its claim to its commit',
    starts: ['src/monitor/run.ts'],
    areas: ['monitor', 'connections', 'tickets', 'runs', 'notifications', 'activity'],
  },
  {
    name: 'the measuring in a child',
    starts: ['src/monitor/children/measure-worker.ts'],
    areas: ['monitor'],
  },
  {
    name: 'a request of the API',
    starts: ['src/api/serve-api.ts'],
    areas: ['api', 'http'],
  },
  {
    name: 'an event, from its lease to its receiver',
    starts: ['src/notifications/dispatch/start-dispatcher.ts', 'src/notifications/sending/send-worker.ts'],
    areas: ['notifications'],
  },
  {
    name: 'the start of a service',
    starts: ['src/dbvitals.ts', 'src/service/serve.ts'],
    areas: ['dbvitals.ts', 'main.ts', 'service', 'config', 'store'],
  },
];

/** The files that a way passes: those that its starts load, as far as they belong to its areas. */
function filesOf(way: Way, imports: ReadonlyMap<string, readonly string[]>): string[] {
  const passed = new Set(way.starts);
  // A set yields what is added while it is read.
  for (const path of passed) {
    for (const next of imports.get(path) ?? []) {
      if (way.areas.includes(next.split('/')[1] ?? '')) passed.add(next);
    }
  }
  return [...passed].toSorted();
}

/** Imports from a folder up into one of the folders around it. */
function climbsOf(files: readonly string[], imports: ReadonlyMap<string, readonly string[]>): string[] {
  return files.flatMap((path) =>
    (imports.get(path) ?? [])
      .filter(
        (to) => files.includes(to) && dirname(path).startsWith(`${dirname(to)}/`) && dirname(to) !== 'src',
      )
      .map((to) => `${path} → ${to}`),
  );
}

// `npm run ways` prints the counts, with `-- --files` also each file.
if (import.meta.main) {
  const imports = programImports(join(import.meta.dirname, '../..'), false);
  for (const way of WAYS) {
    const files = filesOf(way, imports);
    const folders = new Set(files.map((path) => dirname(path))).size;
    console.log(
      `${way.name}: ${files.length} files, ${folders} folders, ${climbsOf(files, imports).length} climbs`,
    );
    if (process.argv.includes('--files')) console.log(files.map((path) => `  ${path}`).join('\n'));
  }
}
