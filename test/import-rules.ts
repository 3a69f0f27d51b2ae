import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

const BASE = 'database config vocabulary';
const STORED = `activity checks ${BASE}`;
const ENTITIES = 'cells accounts members keys connections silences triage sign-in notifications saved-views';
const ANSWERS = `health ops team measures changes queries vitals http telemetry ${STORED}`;

/** The folders that each folder of src/ may import. A folder is listed above all that it imports. */
const LIST: Readonly<Record<string, string>> = {
  'dbvitals.ts': 'main.ts',
  'main.ts': `cli doctor server monitor cells connections ${STORED}`,
  cli: `doctor server monitor ${ENTITIES} ${ANSWERS}`,
  console: `server monitor ${ENTITIES} ${ANSWERS}`,
  doctor: `server monitor cells connections notifications http ${BASE}`,
  server: `monitor ${ENTITIES} gate ${ANSWERS}`,
  monitor: `connections silences health ops vitals notifications measures changes queries network telemetry ${STORED}`,
  'sign-in': `cells members activity http ${BASE}`,
  silences: `connections notifications ops changes ${STORED}`,
  triage: `activity ${BASE}`,
  connections: `notifications ops changes queries ${STORED}`,
  members: `cells activity ${BASE}`,
  'saved-views': `activity ${BASE}`,
  keys: `cells notifications activity ${BASE}`,
  accounts: `cells notifications activity ${BASE}`,
  cells: BASE,
  notifications: `measures changes ops vitals network telemetry ${STORED}`,
  health: `http checks ${BASE}`,
  ops: `http checks ${BASE}`,
  measures: `checks ${BASE}`,
  changes: `checks ${BASE}`,
  queries: `activity checks ${BASE}`,
  vitals: 'checks vocabulary',
  activity: `http ${BASE}`,
  team: `http ${BASE}`,
  gate: 'telemetry database vocabulary',
  http: 'telemetry database vocabulary',
  checks: 'vocabulary',
  config: 'telemetry database vocabulary',
  database: 'telemetry vocabulary',
  telemetry: 'vocabulary',
  network: 'vocabulary',
  vocabulary: '',
};

/** Advice for a forbidden import: the place where the code belongs. */
const WHERE: Readonly<Record<string, string>> = {
  cli: `Code that a command shares with a page is a verb: it belongs in ${ENTITIES.replaceAll(' ', '/, ')}/.`,
  console: `Code that a page shares with a command is a verb: it belongs in ${ENTITIES.replaceAll(' ', '/, ')}/.`,
  server: 'Only cli/commands/serve-command.ts starts the API together with the console and the monitor.',
  monitor: 'monitor/ measures and stores runs. Code that changes a connection belongs in connections/.',
  checks:
    'A check is text and judgement. Code that connects to a database and runs checks belongs in monitor/.',
  database: "Code that reads or writes an entity's rows belongs in that entity's folder.",
  vocabulary:
    'vocabulary/ contains lists and formats that every folder may import. It imports no other folder.',
};

/** Folder of src/ to the folders that it may import. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(LIST).map(([name, others]) => [name, others.split(' ').filter(Boolean)]),
);

const folders = Object.keys(MAY_IMPORT);
const TESTS = /(?:\.test|-fixture)\.ts$/;
// `serve` puts console, API and monitor together; the reference of the commands is written from the whole program.
const COMPOSES = /^src\/cli\/(?:commands\/serve-command|write-commands)\.ts$/;
const EVERYBODY = 'src/config/package-root.ts';

/** An import: the importing file, and the imported file, package or Node module. Paths are relative to the root. */
interface Import {
  from: string;
  to: string;
}

/** Why an import is not allowed; null when it is. */
type Rule = (of: Import) => string | null;

const folderOf = (path: string) => path.split('/')[1] ?? '';

const byFolder: Rule = ({ from, to }) => {
  if (!from.startsWith('src/') || !to.startsWith('src/')) return null;
  const [mine, other] = [folderOf(from), folderOf(to)];
  const unlisted = [mine, other].find((name) => !folders.includes(name));
  if (unlisted !== undefined) {
    return `${unlisted} is a new folder of src/: test/import-rules.ts needs a line with its allowed imports.`;
  }
  const allowed = MAY_IMPORT[mine] ?? [];
  if (
    mine === other ||
    allowed.includes(other) ||
    to === EVERYBODY ||
    TESTS.test(from) ||
    COMPOSES.test(from)
  ) {
    return null;
  }
  return `${mine} may import ${allowed.join(', ') || 'nothing'}. ${WHERE[mine] ?? 'ARCHITECTURE.md says where code belongs.'}`;
};

/** A rule by paths: an import from `from` to `to` is wrong. */
function forbid(why: string, from: RegExp, to: RegExp): Rule {
  return (of) => (from.test(of.from) && to.test(of.to) ? why : null);
}

const RULES: readonly Rule[] = [
  byFolder,
  forbid('Only tests import a fixture.', /^src\/.*(?<!\.test|-fixture)\.ts$/, /-fixture\.ts$/),
  forbid(
    'The API is read-only: an endpoint imports no file that records. Writing belongs in the verbs and in monitor/.',
    /^src\/(?:health|ops|team|activity)\/(?!record-)[^/]*(?<!\.test|-fixture)\.ts$/,
    /^src\/.*\/record-/,
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
    'From src/, the console imports only types of answers in src/console/ and the lists in src/vocabulary/.',
    /^console\/src\//,
    /^(?:src\/(?!console\/|vocabulary\/|activity\/action-types\.ts)|client\/(?!src\/records\.ts)|test\/|bench\/)/,
  ),
  forbid(
    'console/src/parts/ imports no page and no route: code that does belongs in pages/ or shell/.',
    /^console\/src\/parts\//,
    /^(?:console\/src\/(?:pages|shell|router)|src\/(?!vocabulary\/))/,
  ),
  forbid(
    'console/src/measures/ is what several pages show of measures: it imports no page.',
    /^console\/src\/measures\//,
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
  const named: string[] = [];
  const take = ({ source }: { source: unknown }) => {
    if (source && typeof source === 'object' && 'value' in source) named.push(String(source.value));
  };
  new Visitor({
    ImportDeclaration: take,
    ExportNamedDeclaration: take,
    ExportAllDeclaration: take,
    ImportExpression: take,
    TSImportType: take,
  }).visit(program);
  return named.map((to) => ({ from, to: to.startsWith('.') ? join(from, '..', to) : to }));
}

/** Every import below these folders of `root` that breaks a rule: `from → to: why`. */
export function violations(root: string, below: readonly string[]): string[] {
  return below
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => importsOf(root, path))
    .flatMap((of) =>
      RULES.map((rule) => rule(of))
        .filter((why) => why !== null)
        .map((why) => `${of.from} → ${of.to}: ${why}`),
    );
}
