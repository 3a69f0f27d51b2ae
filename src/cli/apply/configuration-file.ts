import { Check } from 'typebox/schema';
import * as yaml from 'yaml';
import { type Document, isMap, isNode, isScalar, LineCounter, visit } from 'yaml';
import { readYaml, type YamlProblem, yamlValue } from '../../platform/read-yaml.ts';
import { Rejection } from '../../platform/rejection.ts';
import type { Static, TSchema } from '../../platform/schema/schema.ts';
import { InvalidFile } from '../invalid-file.ts';
import { UsageError } from '../usage-error.ts';
import { type Path, schemaProblems } from './schema-problems.ts';

/** A parsed file, and the problems found in it later. */
export interface ReadFile {
  /** Notes a problem of a field. */
  problem(path: Path, sentence: string): void;
  /** Returns the result of `parse`. If it throws, notes that as a problem of the field. */
  attempt<T>(path: Path, parse: () => T): T | undefined;
  /** Throws {@link InvalidFile} with all noted problems, by line. */
  throwProblems(): void;
}

/**
 * Reads a YAML file; messages call it `name`. Throws {@link InvalidFile} with the line, column and field of each
 * problem. The messages quote no values, because these may be secrets.
 */
export function readFile<Schema extends TSchema>(
  text: string,
  name: string,
  schema: Schema,
): { value: Static<Schema>; file: ReadFile } {
  const lines = new LineCounter();
  const read = readYaml(text, yaml, { lineCounter: lines, merge: true });
  const found: { line: number; col: number; sentence: string }[] = [];
  const note = (offset: number, sentence: string) => {
    found.push({ ...lines.linePos(offset), sentence });
  };
  const invalidFile = () => {
    const sorted = found.toSorted((one, other) => one.line - other.line || one.col - other.col);
    const lines = sorted.map(({ line, col, sentence }) => `${name}:${line}:${col}: ${sentence}`);
    // A value of the wrong type breaks several rules with the same message.
    return new InvalidFile([...new Set(lines)]);
  };
  // Only the first syntax error is reported: it causes others after it.
  if ('problem' in read) {
    note(read.problem.offset, sentenceOf(read.problem));
    throw invalidFile();
  }
  const { document } = read;
  const problem = (path: Path, sentence: string, at = path) => {
    note(offsetOf(document, at), `${written(path)}${sentence}`);
  };
  const resolved = yamlValue(document);
  if (!resolved) {
    note(
      offsetOfAlias(document),
      'This alias (*) has no anchor (&) before it, or the file has too many aliases.',
    );
    throw invalidFile();
  }
  const { value } = resolved;
  if (!Check(schema, value)) {
    for (const { path, sentence, at } of schemaProblems(schema, value)) problem(path, sentence, at);
    throw invalidFile();
  }
  for (const path of halves(value, [])) problem(path, 'This text contains half of a surrogate pair.');
  const file: ReadFile = {
    problem,
    attempt: (path, parse) => {
      try {
        return parse();
      } catch (error) {
        if (!(error instanceof UsageError || error instanceof Rejection)) throw error;
        problem(path, error.message);
        return undefined;
      }
    },
    throwProblems: () => {
      if (found.length > 0) throw invalidFile();
    },
  };
  file.throwProblems();
  return { value, file };
}

// The messages of these errors quote the file.
const QUOTING = new Set(['UNEXPECTED_TOKEN', 'BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'BAD_COLLECTION_TYPE']);

function sentenceOf({ code, message }: YamlProblem): string {
  if (code === 'TAG_RESOLVE_FAILED' || code === 'BAD_DIRECTIVE') return 'Tags (!) are not supported.';
  if (code === 'MULTIPLE_DOCS') return 'This starts a second YAML document: the file must have only one.';
  return QUOTING.has(code) ? 'This is not YAML: put text with special characters in quotes.' : `${message}.`;
}

/** The offset of the first alias without an anchor. */
function offsetOfAlias(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return undefined;
      offset = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** The paths of texts with half of a surrogate pair, which the store can't hold. */
function* halves(value: unknown, path: Path): Generator<Path> {
  if (typeof value === 'string' && !value.isWellFormed()) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value))
    yield* halves(part, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** The offset of a field's name; of its parent if the field is not in the file. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const last = path[length - 1];
    const holder: unknown = document.getIn(path.slice(0, length - 1), true);
    const pair = isMap(holder)
      ? holder.items.find(({ key }) => isScalar(key) && String(key.value) === String(last))
      : undefined;
    const node: unknown = pair ? pair.key : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** Formats a path, such as `accounts[0].connections[2].port: `. */
function written(path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`));
  return steps.length === 0 ? '' : `${steps.join('').replace(/^\./, '')}: `;
}

/** Notes each item of a list that repeats the key of an earlier item. */
export function noteRepeated<Item>(
  file: ReadFile,
  path: Path,
  items: readonly Item[],
  field: string,
  keyOf: (item: Item) => string,
): void {
  const seen = new Set<string>();
  for (const [at, item] of items.entries()) {
    if (seen.has(keyOf(item)))
      file.problem([...path, at, field], 'The list contains this twice: remove one.');
    seen.add(keyOf(item));
  }
}
