import type { Document, DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';

type Yaml = Pick<typeof import('yaml'), 'Lexer' | 'parseDocument' | 'visit' | 'isScalar'>;

/** What is wrong with a text. `code` is the parser's, or `TOO_LARGE`, `TOO_DEEP`, `TOO_MANY_ALIASES`. */
export interface YamlProblem {
  offset: number;
  code: string;
  /** A phrase; that of the parser may quote the text. */
  message: string;
}

/** The options of the parser that a reader chooses. */
type Options = Pick<DocumentOptions & ParseOptions & SchemaOptions, 'lineCounter' | 'merge'>;

// Ten thousand connections take 3 MB.
const LARGEST = 4 * 1024 * 1024;
const DEEPEST = 64;
// The parser compares each alias with all before it. A thousand connections may share three anchors.
const MOST_ALIASES = 10_000;

/**
 * Parses a YAML or JSON text of a stranger in linear time. The parser itself is recursive, it takes minutes for 12,000 open braces,
 * and it compares each key of a mapping with every other: so size, depth and repeated keys are judged here. `yaml` is the module.
 */
export function readYaml(
  text: string,
  yaml: Yaml,
  options: Options = {},
): { document: Document } | { problem: YamlProblem } {
  const excess = excessOf(text, yaml);
  if (excess) {
    const breaks = [...text.slice(0, excess.offset).matchAll(/\n/g)];
    for (const start of [0, ...breaks.map(({ index }) => index + 1)]) options.lineCounter?.addNewLine(start);
    return { problem: excess };
  }
  const document: Document = yaml.parseDocument(text, {
    prettyErrors: false,
    logLevel: 'error',
    stringKeys: true,
    uniqueKeys: false,
    ...options,
  });
  const [broken] = [...document.errors, ...document.warnings];
  if (broken) return { problem: { offset: broken.pos[0], code: broken.code, message: broken.message } };
  const repeated = repeatedKey(document, yaml);
  if (repeated === null) return { document };
  return { problem: { offset: repeated, code: 'DUPLICATE_KEY', message: 'Map keys must be unique' } };
}

/** The value of a document that was read. Null if an alias has no anchor, or aliases of aliases make too much of it. */
export function yamlValue(document: Document): { value: unknown } | null {
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }) };
  } catch {
    return null;
  }
}

/** Where a text is larger or nested deeper than any file that is meant well. */
function excessOf(text: string, { Lexer }: Yaml): YamlProblem | null {
  if (text.length > LARGEST)
    return { offset: 0, code: 'TOO_LARGE', message: `The file is over ${LARGEST / 1024 / 1024} MiB` };
  // The columns where the block collections begin that are open.
  const columns: number[] = [];
  let flow = 0;
  let offset = 0;
  let line = 0;
  let aliases = 0;
  for (const token of new Lexer().lex(text)) {
    if (isMark(token)) continue;
    if (token === '[' || token === '{') flow++;
    else if (token === ']' || token === '}') flow = Math.max(flow - 1, 0);
    if (flow === 0 && /^[^\s#]/.test(token)) {
      const column = offset - line;
      while ((columns.at(-1) ?? -1) > column) columns.pop();
      if (columns.at(-1) !== column) columns.push(column);
    }
    if (flow + columns.length > DEEPEST)
      return { offset, code: 'TOO_DEEP', message: `This is nested more than ${DEEPEST} levels deep` };
    if (token.startsWith('*') && ++aliases > MOST_ALIASES)
      return {
        offset,
        code: 'TOO_MANY_ALIASES',
        message: `The file has more than ${MOST_ALIASES} aliases (*)`,
      };
    offset += token.length;
    const end = token.lastIndexOf('\n');
    if (end >= 0) line = offset - token.length + end + 1;
  }
  return null;
}

/** Tokens of the lexer that are not in the text: the start of a document, a flow error, and "a scalar follows". */
function isMark(token: string): boolean {
  return token === '\u0002' || token === '\u0018' || token === '\u001f';
}

/** The offset of the first key that its mapping has twice. */
function repeatedKey(document: Document, { visit, isScalar }: Yaml): number | null {
  let found: number | null = null;
  visit(document, {
    Map: (_, map) => {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
