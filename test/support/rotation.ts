import { execFileSync } from 'node:child_process';

/** The parts of a rotation: a run of `npm test` does one of them, `DBVITALS_TEST_PART=all` does all. */
const PARTS: readonly string[] = ['a', 'b', 'c', 'd', 'e'];
const FIRST = 'a';

/**
 * A fifth of a long list of like cases. Each run takes the cases of its part, which the commit's hash chooses, as it chooses the
 * stages of `.ci/run`; `DBVITALS_TEST_PART=all`, as in a release, takes every case.
 *
 * @param always how many of the last cases every part has, such as the newest migrations
 */
export function rotate<T>(cases: readonly T[], always = 0): T[] {
  const at = readPart();
  if (at === null) return [...cases];
  const newest = cases.length - always;
  return cases.filter((_, n) => n >= newest || n % PARTS.length === at);
}

/**
 * One of a few like choices for each name, another one in the next part; in a release all of them. The parts together take
 * every choice for every name, if there are at most five.
 */
export function chooseInTurn<T>(choices: readonly T[], name: string): T[] {
  const part = readPart();
  if (part === null) return [...choices];
  const place = [...name].reduce((sum, character) => sum + character.charCodeAt(0), part) % choices.length;
  return choices.slice(place, place + 1);
}

/** How many values a property tries, of `all` in a release. The seeds differ from run to run. */
export function countValues(all: number): number {
  return readPart() === null ? all : Math.ceil(all / PARTS.length);
}

/**
 * The part of this run: what `DBVITALS_TEST_PART` says, everything where files are named, and otherwise by the commit's hash, or
 * the first without a repository.
 *
 * @param argv the arguments of Vitest
 */
export function choosePart(argv: readonly string[]): string {
  const given = process.env['DBVITALS_TEST_PART'];
  if (given !== undefined) return given;
  const isNamed = (argument: string, at: number) =>
    /^(?:src|test|client|console)\/|\.test\./.test(argument) && !argv[at - 1]?.startsWith('-');
  if (argv.some(isNamed)) return 'all';
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' } as const;
    const hash = execFileSync('git', ['rev-parse', 'HEAD'], options);
    return PARTS[Number.parseInt(hash.slice(0, 8), 16) % PARTS.length] ?? FIRST;
  } catch {
    return FIRST;
  }
}

/** The place of this run's part, or null if it takes all. */
function readPart(): number | null {
  const part = process.env['DBVITALS_TEST_PART'];
  if (part === 'all') return null;
  const at = PARTS.indexOf(part ?? '');
  if (at < 0) throw new Error(`DBVITALS_TEST_PART is ${part}: give ${PARTS.join(', ')} or all.`);
  return at;
}
