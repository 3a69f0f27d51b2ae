import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { areaOf, MAY_IMPORT, roomOf } from './rooms.ts';

/** Advice for a forbidden import: the place where the code belongs. */
const WHERE: Readonly<Record<string, string>> = {
  cli: `Code that a command shares with a page is a verb: it belongs in accounts/, connections/, tickets/ or notifications/.`,
  'console-api': `Code that a page shares with a command is a verb: it belongs in accounts/, connections/, tickets/ or notifications/.`,
  api: 'Only service/ starts the API together with the console and the monitor.',
  monitor: 'monitor/ measures and stores runs. Code that changes a connection belongs in connections/.',
  checks:
    'A check is text and judgement. Code that connects to a database and runs checks belongs in monitor/.',
  store: "Code that reads or writes an entity's rows belongs in that entity's area.",
  vocabulary: 'vocabulary/ contains lists that every area may import. It imports no other area.',
};

const TESTS = /(?:\.test|-fixture)\.ts$/;

/** An import: the importing file, and the imported file, package or Node module. Paths are relative to the root. */
interface Import {
  from: string;
  to: string;
  /** Whether it vanishes when the program runs. */
  isType: boolean;
}

/** Why an import is not allowed; null when it is. */
type Rule = (of: Import) => string | null;

const byRoom: Rule = ({ from, to }) => {
  if (!from.startsWith('src/') || !to.startsWith('src/')) return null;
  const [mine, other] = [roomOf(from), roomOf(to)];
  const unlisted = mine === null ? from : to;
  if (mine === null || other === null) {
    return `${unlisted.split('/')[1]} is a new folder of src/: test/house/rooms.ts needs a line with its allowed imports.`;
  }
  const allowed = MAY_IMPORT[mine] ?? [];
  if (mine === other || allowed.includes(other) || TESTS.test(from)) return null;
  return `${mine} may import ${allowed.join(', ') || 'nothing'}. ${WHERE[areaOf(mine)] ?? 'ARCHITECTURE.md says where code belongs.'}`;
};

/** A rule by paths: an import from `from` to `to` is wrong. */
function forbid(why: string, from: RegExp, to: RegExp): Rule {
  return (of) => (from.test(of.from) && to.test(of.to) ? why : null);
}

const RULES: readonly Rule[] = [
  byRoom,
  forbid('Only tests import a fixture.', /^src\/.*(?<!\.test|-fixture)\.ts$/, /-fixture\.ts$/),
  forbid(
    'The API is read-only: an endpoint imports no file that records. Writing belongs in the verbs and in monitor/.',
    /^src\/api\/endpoints\/[^/]*(?<!\.test|-fixture)\.ts$/,
    /^src\/.*\/record-/,
  ),
  forbid(
    'A check of one engine imports no check of the other: what both need belongs in checks/.',
    /^src\/checks\/postgres\//,
    /^src\/checks\/mysql\//,
  ),
  forbid(
    'A check of one engine imports no check of the other: what both need belongs in checks/.',
    /^src\/checks\/mysql\//,
    /^src\/checks\/postgres\//,
  ),
  forbid(
    'src/ imports nothing from outside src/, except that cli/ uses the client.',
    /^src\/(?!cli\/).*(?<!\.test|-fixture)\.ts$/,
    /^(?:client|console|test|bench)\//,
  ),
  forbid(
    'client/ is a separate package that also runs in browsers: it imports no other folder and no Node module.',
    /^client\/src\//,
    /^(?:src|console|test|bench)\/|^node:/,
  ),
  forbid(
    'From src/, the console imports only types of answers in src/console-api/, the lists in src/vocabulary/ and the texts in src/platform/text/.',
    /^console\/src\//,
    /^(?:src\/(?!console-api\/|vocabulary\/|platform\/text\/|activity\/catalogue\/catalogue\.ts)|client\/(?!src\/records\.ts)|test\/|bench\/)/,
  ),
  forbid(
    'console/src/parts/ imports no page and no route: code that does belongs in pages/ or shell/.',
    /^console\/src\/parts\//,
    /^(?:console\/src\/(?:pages|shell|router)|src\/(?!vocabulary\/|platform\/text\/))/,
  ),
  forbid(
    'console/src/measures/, episodes/ and thresholds/ are what several pages show: they import no page.',
    /^console\/src\/(?:measures|episodes|thresholds)\//,
    /^console\/src\/(?:pages|shell|router)/,
  ),
  ({ from, to }) => {
    const [, page] = /^console\/src\/pages\/([^/]+)\//.exec(from) ?? [];
    const isElsewhere =
      /^console\/src\/(?:pages|router)/.test(to) && !to.startsWith(`console/src/pages/${page}/`);
    return page !== undefined && isElsewhere
      ? 'A page never imports another page: shared code belongs in parts/ or measures/.'
      : null;
  },
  forbid(
    'The contract suite tests only HTTP and the command line: a test of a file belongs next to that file.',
    /^test\/contract\//,
    /^src\//,
  ),
];

/** All imports of a file, including types and dynamic imports. */
function importsOf(root: string, from: string): Import[] {
  const { program, errors } = parseSync(from, readFileSync(join(root, from), 'utf8'));
  if (errors.length > 0) throw new Error(`${from} can't be parsed: ${errors[0]?.message}`);
  const imports: Import[] = [];
  const take = (node: {
    source: unknown;
    importKind?: unknown;
    exportKind?: unknown;
    specifiers?: unknown;
  }) => {
    const { source, specifiers } = node;
    if (!source || typeof source !== 'object' || !('value' in source)) return;
    const named = String(source.value);
    const kinds = [node.importKind, node.exportKind];
    const isType = kinds.includes('type') || (Array.isArray(specifiers) && areTypes(specifiers));
    imports.push({ from, to: named.startsWith('.') ? join(from, '..', named) : named, isType });
  };
  new Visitor({
    ImportDeclaration: take,
    ExportNamedDeclaration: take,
    ExportAllDeclaration: take,
    ImportExpression: take,
    TSImportType: ({ source }) => take({ source, importKind: 'type' }),
  }).visit(program);
  return imports;
}

/** Whether an import names only types: `import { type A, type B }`. */
function areTypes(specifiers: readonly unknown[]): boolean {
  return (
    specifiers.length > 0 && specifiers.every((one) => Reflect.get(Object(one), 'importKind') === 'type')
  );
}

/** The TypeScript files below these folders of `root`. */
function filesBelow(root: string, below: readonly string[]): string[] {
  return below
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => /\.tsx?$/.test(path));
}

/** Every import below these folders of `root` that breaks a rule: `from → to: why`. */
export function violations(root: string, below: readonly string[]): string[] {
  return filesBelow(root, below)
    .flatMap((path) => importsOf(root, path))
    .flatMap((of) =>
      RULES.map((rule) => rule(of))
        .filter((why) => why !== null)
        .map((why) => `${of.from} → ${of.to}: ${why}`),
    );
}

/** The imports of the program within src/: a file to the files that it imports. */
export function programImports(root: string, withTypes = true): Map<string, string[]> {
  const program = filesBelow(root, ['src']).filter((path) => !TESTS.test(path));
  return new Map(
    program.map((path) => [
      path,
      importsOf(root, path)
        .filter(({ to, isType }) => to.startsWith('src/') && (withTypes || !isType))
        .map(({ to }) => to),
    ]),
  );
}

/** The circles of a graph: the nodes of each. */
export function circles(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const found: string[][] = [];
  const visit = (node: string): number => {
    const place = order.size;
    order.set(node, place);
    open.push(node);
    let low = place;
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === place) {
      const circle = open.splice(open.indexOf(node));
      if (circle.length > 1) found.push(circle.toSorted());
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}
