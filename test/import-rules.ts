import type { IFlattenedRuleSet, IRegularForbiddenRuleType } from 'dependency-cruiser';

const BASE = 'database config vocabulary';
const STORED = `activity checks ${BASE}`;
const ENTITIES = 'accounts members keys connections silences sign-in';
const ANSWERS = `health ops team http telemetry ${STORED}`;

/** What each folder of src/ may import. A folder stands above all that it imports: data flows down this list, never up. */
const LIST: Readonly<Record<string, string>> = {
  'dbvitals.ts': 'main.ts',
  'main.ts': `cli doctor server monitor connections ${STORED}`,
  cli: `doctor server monitor ${ENTITIES} ${ANSWERS}`,
  console: `server monitor ${ENTITIES} ${ANSWERS}`,
  doctor: `server monitor connections http ${BASE}`,
  server: `monitor ${ENTITIES} gate ${ANSWERS}`,
  monitor: `connections silences health ops telemetry ${STORED}`,
  'sign-in': `members activity http ${BASE}`,
  silences: `connections ops ${STORED}`,
  connections: `ops ${STORED}`,
  members: `activity ${BASE}`,
  keys: `activity ${BASE}`,
  accounts: `activity ${BASE}`,
  health: `http checks ${BASE}`,
  ops: `http checks ${BASE}`,
  activity: `http ${BASE}`,
  team: `http ${BASE}`,
  gate: 'telemetry database vocabulary',
  http: 'telemetry database vocabulary',
  checks: 'vocabulary',
  config: 'telemetry database vocabulary',
  database: 'telemetry vocabulary',
  telemetry: 'vocabulary',
  vocabulary: '',
};

/** Where code belongs that a folder may not reach for. */
const WHERE: Readonly<Record<string, string>> = {
  cli: `What a command shares with a page is a verb: it belongs in ${ENTITIES.replaceAll(' ', '/, ')}/.`,
  console: `What a page shares with a command is a verb: it belongs in ${ENTITIES.replaceAll(' ', '/, ')}/.`,
  server: 'What starts the API beside the console and the monitor is cli/commands/serve.ts.',
  monitor: 'monitor/ measures and stores runs. What changes a connection belongs in connections/.',
  checks: 'A check is text and judgement. What connects and runs it belongs in monitor/.',
  database: 'What reads or writes rows of the store belongs in the folder of that entity.',
  vocabulary: 'vocabulary/ holds lists and forms that everybody may import; it imports nothing of ours.',
};

/** Folder of src/ to the folders that it may import. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(LIST).map(([name, others]) => [name, others.split(' ').filter(Boolean)]),
);

const folders = Object.keys(MAY_IMPORT);
const TESTS = '\\.test\\.ts$';
const EVERYBODY = '^src/config/package-root\\.ts$';
// `serve` puts console, API and monitor together; the reference of the commands is written from the whole program.
const COMPOSES = ['^src/cli/commands/serve\\.ts$', '^src/cli/write-commands\\.ts$'];

/** The paths below these folders of src/, as a regular expression. */
function within(names: readonly string[]): string {
  return `^src/(?:${names.map((name) => name.replace('.', '\\.')).join('|')})(?:/|$)`;
}

function forbid(
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IRegularForbiddenRuleType {
  return { name, severity: 'error', comment, from, to };
}

const NEW = 'A new folder of src/ needs a line in test/import-rules.ts that says what it may import.';

/** The rules as dependency-cruiser takes them. */
export const rules: IFlattenedRuleSet = {
  forbidden: [
    ...Object.entries(MAY_IMPORT).map(([name, others]) =>
      forbid(
        name,
        `${name} may import ${others.join(', ') || 'nothing'} of src/. ${WHERE[name] ?? 'ARCHITECTURE.md says where code belongs.'}`,
        { path: within([name]), pathNot: [TESTS, ...COMPOSES] },
        { path: '^src/', pathNot: [within([name, ...others]), EVERYBODY] },
      ),
    ),
    forbid('new-folder', NEW, {}, { path: '^src/', pathNot: within(folders) }),
    forbid('new-folder-imports', NEW, { path: '^src/', pathNot: within(folders) }, {}),
    forbid(
      'endpoints-only-read',
      'The API is read-only: an endpoint imports no file that records. Writing belongs in the verbs and in monitor/.',
      {
        path: '^src/(?:health|ops|activity|team)/',
        pathNot: ['/record-', '^src/activity/seals/', TESTS],
      },
      { path: '/record-' },
    ),
    forbid(
      'outside',
      'src/ imports nothing from outside of src/; only cli/ uses the client, as any program does.',
      { path: '^src/', pathNot: [TESTS, '^src/cli/'] },
      { path: '^(?:client|console|test|bench)/' },
    ),
    forbid(
      'client',
      'client/ is a package of its own that runs in browsers too: it imports nothing of ours and nothing of Node.',
      { path: '^client/src/' },
      { path: ['^(?:src|console|test|bench)/', '^node:'] },
    ),
    forbid(
      'browser',
      'The console in the browser takes from src/ only types of what a route of src/console/ answers, and the lists of src/vocabulary/.',
      { path: '^console/src/' },
      {
        path: '^(?:src|client|test|bench)/',
        pathNot: [
          '^src/(?:console|vocabulary)/',
          '^src/activity/action-types\\.ts$',
          '^client/src/records\\.ts$',
        ],
      },
    ),
    forbid(
      'browser-parts',
      'console/src/parts/ knows no page and no route: what knows one belongs in pages/ or shell/.',
      { path: '^console/src/parts/' },
      { path: ['^console/src/(?:pages|shell|router)', '^src/(?!vocabulary/)'] },
    ),
    forbid(
      'browser-pages',
      'A page never imports another page: what two need belongs in parts/.',
      { path: '^console/src/pages/([^/]+)/' },
      { path: '^console/src/(?:pages|router)', pathNot: '^console/src/pages/$1/' },
    ),
    forbid(
      'black-box',
      'The contract suite is a black box over HTTP and the command line: a test of a file belongs beside that file.',
      { path: '^test/contract/' },
      { path: '^src/' },
    ),
  ],
};
