import type { Engine } from '../../vocabulary/engines.ts';
import { CatalogueNames, type CatalogueRead } from './catalogue-names.ts';
import { readTokens, type Token } from './statement-tokens.ts';
import { AFTER, ENDS_FROM, NO_ALIAS, OTHER_WORK, OWN_FROM, SYNTAX } from './statement-words.ts';

/** What is between two parentheses, or the whole statement. */
interface Frame {
  /** The keyword before the parenthesis. */
  opener: string;
  kind: 'expression' | 'item' | 'body' | 'names';
  isQuery: boolean;
  isInFrom: boolean;
  /** The next word is a table, a function or a parenthesis of FROM. */
  expectsItem: boolean;
  /** What came last in FROM. */
  last: 'item' | 'alias' | null;
  /** The queries that WITH has named so far. */
  named: Set<string>;
  /** Set in the list of WITH: whether it is recursive, and the name that is being defined. */
  defines: { isRecursive: boolean; name: string | null } | null;
}

/**
 * Whether a statement reads nothing but the server's own catalogue and statistics, such as pg_dump, drivers and monitoring tools
 * do, provided that the names are the server's. Null if it reads tables of users, does anything else, or can't be read with certainty: it is then a query as
 * any other.
 */
export function readCatalogueRead(engine: Engine, text: string): CatalogueRead | null {
  const isCut = engine !== 'postgres' && text.endsWith('...');
  const tokens = isCut ? null : readTokens(engine, text);
  if (!tokens) return null;
  const [first] = tokens;
  if (first && isWord(first, 'prepare')) {
    const body = tokens.findIndex((token) => isWord(token, 'as'));
    return body < 0 ? null : new CatalogueReader(engine, tokens.slice(body + 1)).read();
  }
  return new CatalogueReader(engine, tokens).read();
}

/** Words between a table and its alias. */
const BETWEEN = new Set(['as', 'with', 'ordinality']);

/** None of these is in a list of names. */
const OF_QUERIES = new Set(['select', 'with', 'from', 'table', 'values']);

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}

function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}

function openFrame(kind: Frame['kind'], opener = ''): Frame {
  return {
    opener,
    kind,
    isQuery: false,
    isInFrom: kind === 'item',
    expectsItem: kind === 'item',
    last: null,
    named: new Set(),
    defines: null,
  };
}

class CatalogueReader {
  readonly #names: CatalogueNames;
  readonly #tokens: readonly Token[];
  readonly #frames: Frame[] = [];
  #frame = openFrame('expression');
  #place = 0;
  #isOther = false;

  constructor(engine: Engine, tokens: readonly Token[]) {
    this.#names = new CatalogueNames(engine);
    this.#tokens = tokens;
  }

  read(): CatalogueRead | null {
    const [first] = this.#tokens;
    if (!first || !(isWord(first, 'select') || isWord(first, 'with') || isSign(first, '('))) return null;
    for (; this.#place < this.#tokens.length && !this.#isOther; this.#place++) this.#step();
    if (this.#isOther || this.#frames.length > 0) return null;
    return this.#names.read();
  }

  #at(offset: number): Token | undefined {
    return this.#tokens[this.#place + offset];
  }

  #step(): void {
    const token = this.#at(0);
    if (!token) return;
    if (isSign(token, '(')) this.#open();
    else if (isSign(token, ')')) this.#close();
    else if (isSign(token, ';')) this.#isOther = this.#place < this.#tokens.length - 1;
    else if (this.#frame.kind === 'names')
      this.#isOther = token.kind === 'word' && OF_QUERIES.has(token.text);
    else if (isSign(token, ',')) this.#next();
    else if (token.kind === 'word' && OTHER_WORK.has(token.text)) this.#isOther = true;
    else if (token.kind === 'word' || token.kind === 'name') this.#readWord(token);
  }

  /** After a comma. */
  #next(): void {
    if (this.#frame.defines) this.#frame.defines.name = null;
    else if (this.#frame.isInFrom) this.#frame.expectsItem = true;
  }

  #open(): void {
    const { expectsItem, defines, last } = this.#frame;
    const before = this.#at(-1);
    if (this.#frame.kind === 'names') this.#push(openFrame('names'));
    else if (expectsItem) this.#push(openFrame('item'));
    else if (defines) this.#openDefinition(defines, before);
    else if (last === 'alias') this.#push(openFrame('names'));
    else if (before?.kind === 'word' && this.#isSyntax(before.text))
      this.#push(openFrame('expression', before.text));
    else {
      if (before?.kind === 'word' || before?.kind === 'name') this.#names.addFunction(this.#nameBefore());
      this.#push(openFrame('expression'));
    }
  }

  /** The columns, or the query, of what WITH names. */
  #openDefinition({ isRecursive, name }: NonNullable<Frame['defines']>, before: Token | undefined): void {
    const isBody = isWord(before, 'as') || isWord(before, 'materialized');
    if (isBody && isRecursive && name !== null) this.#frame.named.add(name);
    this.#push(openFrame(isBody ? 'body' : 'names'));
  }

  #push(frame: Frame): void {
    const { expectsItem } = this.#frame;
    this.#frame.expectsItem = false;
    if (expectsItem) this.#frame.last = 'item';
    else if (this.#frame.last === 'alias') this.#frame.last = null;
    this.#frames.push(this.#frame);
    this.#frame = frame;
  }

  #close(): void {
    const closed = this.#frame;
    const outer = this.#frames.pop();
    if (!outer) {
      this.#isOther = true;
      return;
    }
    this.#frame = outer;
    // Only now is it named: the query itself reads a table that has its name.
    if (closed.kind === 'body' && outer.defines?.name) outer.named.add(outer.defines.name);
  }

  #isSyntax(text: string): boolean {
    if (SYNTAX.has(text)) return true;
    if (text === 'operator') return isWord(this.#at(1), 'pg_catalog');
    return AFTER[text]?.includes(this.#at(-2)?.text ?? '') === true;
  }

  #readWord(token: Token): void {
    const frame = this.#frame;
    const { text } = token;
    const isKeyword = token.kind === 'word';
    if (isKeyword && (text === 'select' || text === 'values')) {
      Object.assign(frame, { isQuery: true, isInFrom: false, expectsItem: false, last: null, defines: null });
    } else if (isKeyword && text === 'with' && this.#beginsQuery()) {
      Object.assign(frame, {
        isInFrom: false,
        expectsItem: false,
        defines: { isRecursive: false, name: null },
      });
    } else if (frame.defines) this.#define(frame.defines, token);
    else if (frame.expectsItem) this.#readItem(token);
    else if (isKeyword && text === 'from') this.#beginFrom();
    else if (isKeyword && (text === 'join' || text === 'straight_join')) {
      Object.assign(frame, { expectsItem: true, last: null });
    } else if (isKeyword && ENDS_FROM.has(text)) Object.assign(frame, { isInFrom: false, last: null });
    else if (isKeyword && frame.last === 'item' && BETWEEN.has(text)) return;
    else if (isKeyword && NO_ALIAS.has(text)) frame.last = null;
    else if (frame.last) frame.last = frame.last === 'item' ? 'alias' : null;
  }

  #beginsQuery(): boolean {
    return this.#place === 0 || isSign(this.#at(-1), '(');
  }

  #define(defines: NonNullable<Frame['defines']>, { kind, text }: Token): void {
    if (kind === 'word' && text === 'recursive' && defines.name === null) defines.isRecursive = true;
    else defines.name ??= text;
  }

  #beginFrom(): void {
    const isDistinct = isWord(this.#at(-1), 'distinct') && !isWord(this.#at(-2), 'select');
    const isOwn = OWN_FROM.has(this.#frame.opener) && !this.#frame.isQuery;
    if (!isDistinct && !isOwn) Object.assign(this.#frame, { isInFrom: true, expectsItem: true, last: null });
  }

  /** A table or a function of FROM. */
  #readItem(token: Token): void {
    if (token.kind === 'word' && (token.text === 'lateral' || token.text === 'only')) return;
    const parts = [token.text];
    while (isSign(this.#at(1), '.') && this.#at(2) !== undefined) {
      parts.push(this.#at(2)?.text ?? '');
      this.#place += 2;
    }
    this.#frame.expectsItem = false;
    this.#frame.last = 'item';
    if (!isSign(this.#at(1), '(')) {
      const isNamed = [this.#frame, ...this.#frames].some(({ named }) => named.has(token.text));
      if (!isNamed || parts.length > 1) this.#names.addRelation(parts);
      return;
    }
    this.#names.addFunction(parts);
    this.#place++;
    this.#push(openFrame('expression'));
  }

  /** The name that ends before this place, with its schema. */
  #nameBefore(): string[] {
    const parts = [this.#at(-1)?.text ?? ''];
    for (let at = -2; isSign(this.#at(at), '.'); at -= 2) parts.unshift(this.#at(at - 1)?.text ?? '');
    return parts;
  }
}
