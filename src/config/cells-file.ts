import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readYaml, yamlValue } from '../platform/read-yaml.ts';
import { ConfigError, isErrno } from './config-error.ts';
import { parsePoolerUrl, parseStoreUrl } from './store-url.ts';
import { readTextFile } from './text-file.ts';

/** One of several stores. Its URLs contain passwords. */
interface CellSettings {
  /** 1 to 255. It never changes: the identifiers that the cell gives out follow from it. */
  readonly id: number;
  readonly url: string;
  /** The URL of a pooler in transaction mode in front of it, for requests; null = none. */
  readonly poolerUrl: string | null;
  /** Whether `account create` may choose it. */
  readonly acceptsNew: boolean;
}

/** The file of DBVITALS_CELLS_FILE. */
export interface CellsFile {
  /** Where it is, to read it again. */
  readonly path: string;
  /** In the order of the file. */
  readonly cells: readonly CellSettings[];
  /** The URL of the control store; null = the first cell. Contains a password. */
  readonly controlUrl: string | null;
}

const NAME = 'DBVITALS_CELLS_FILE';
// A file of root's that the service's group can read is usual.
const OTHERS_MAY_READ_OR_WRITE = 0o027;
const LARGEST_ID = 255;
const FIELDS = ['id', 'url', 'pooler_url', 'accepts_new'];

/**
 * Reads the file of DBVITALS_CELLS_FILE. Throws {@link ConfigError} with every mistake in it. No sentence contains a value of
 * the file, because URLs contain passwords.
 */
export function readCellsFile(path: string): CellsFile {
  const { cells, control_url, ...more } = parse(readText(path));
  const problems: string[] = [];
  const problem: Problem = (where, sentence) => void problems.push(`${NAME}: ${where}${sentence}`);
  for (const name of Object.keys(more)) if (isPlain(name)) problem('', `${name} is not a field of it.`);
  const entries: unknown[] = Array.isArray(cells) ? cells : [];
  if (entries.length === 0) problem('', 'cells must list at least one cell, each with id and url.');
  const read = entries.map((entry, at) => readCell(entry, `entry ${at + 1} of cells: `, problem));
  for (const { id } of read.filter((cell, at) => read.findIndex((other) => other.id === cell.id) < at))
    if (id !== 0) problem(`cell ${id}: `, 'another cell has the same id.');
  for (const { id } of read.filter((cell, at) => read.findIndex((other) => other.url === cell.url) < at))
    if (id !== 0) problem(`cell ${id}: `, 'another cell has the same url.');
  const controlUrl =
    control_url === undefined
      ? null
      : readUrl(control_url, (text) => parseStoreUrl(text, 'control_url'), ['', 'control_url', problem]);
  const [first, ...later] = read;
  const named = later.find(({ url }) => url !== '' && url === controlUrl);
  if (named)
    problem(
      '',
      `control_url is the url of cell ${named.id}: list that cell first, or name another database.`,
    );
  if (problems.length > 0) throw new ConfigError([...new Set(problems)]);
  // The URL of the first cell again is that cell.
  return Object.freeze({
    cells: Object.freeze(read),
    path,
    controlUrl: controlUrl === first?.url ? null : controlUrl,
  });
}

/** Notes a mistake, and where it is. */
type Problem = (where: string, sentence: string) => void;

/** Reads one cell; `place` names it if its id does not. */
function readCell(entry: unknown, place: string, problem: Problem): CellSettings {
  const given = isObject(entry) ? entry : {};
  const { id, accepts_new: accepts = 'yes', pooler_url: pooler } = given;
  const where = isId(id) ? `cell ${id}: ` : place;
  if (!isId(id)) problem(where, `id must be a whole number from 1 to ${LARGEST_ID}.`);
  for (const name of Object.keys(given)) {
    if (!FIELDS.includes(name)) problem(where, `a cell has the fields ${FIELDS.join(', ')} only.`);
  }
  if (accepts !== 'yes' && accepts !== 'no' && typeof accepts !== 'boolean')
    problem(where, 'accepts_new must be yes or no.');
  return Object.freeze({
    id: isId(id) ? id : 0,
    url: readUrl(given['url'], (text) => parseStoreUrl(text, 'url'), [where, 'url', problem]),
    poolerUrl:
      pooler === undefined
        ? null
        : readUrl(pooler, (text) => parsePoolerUrl(text, 'pooler_url'), [where, 'pooler_url', problem]),
    acceptsNew: accepts === 'yes' || accepts === true,
  });
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= LARGEST_ID;
}

/** The URL, or an empty text after its mistake was noted. */
function readUrl(
  value: unknown,
  check: (text: string) => unknown,
  [where, name, problem]: readonly [where: string, name: string, problem: Problem],
): string {
  try {
    if (typeof value !== 'string') throw new Error(`${name} must be a URL.`);
    check(value);
    return value;
  } catch (error) {
    problem(where, error instanceof Error ? error.message : `${name} is invalid.`);
    return '';
  }
}

function readText(path: string): string {
  try {
    if ((statSync(path).mode & OTHERS_MAY_READ_OR_WRITE) !== 0) {
      throw new Error(
        `${NAME}: other users can read or write the file, which contains passwords: run "chmod 600" or "chmod 640" on it.`,
      );
    }
    return readTextFile(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new Error(`${NAME} cannot be read (${error.code}): name a readable file.`);
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  // Loaded on use: most services have no such file.
  const yaml: typeof import('yaml') = createRequire(import.meta.url)('yaml');
  const read = readYaml(text, yaml);
  const parsed = 'problem' in read ? null : yamlValue(read.document)?.value;
  if (isObject(parsed)) return parsed;
  throw new Error(`${NAME} must be YAML: "cells:", a list of cells, each with id and url.`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A misplaced URL could be the name of a field.
function isPlain(name: string): boolean {
  return /^[\w-]{1,40}$/.test(name);
}
