import type { Engine } from '../../vocabulary/engines.ts';
import { MYSQL_FUNCTIONS } from './statement-words.ts';

/** Names without a schema in a statement. Of PostgreSQL: only the server knows whether they are its own. */
export interface CatalogueRead {
  relations: string[];
  functions: string[];
}

const SYSTEM_SCHEMAS: Readonly<Record<'postgres' | 'mysql', ReadonlySet<string>>> = {
  postgres: new Set(['pg_catalog', 'information_schema']),
  mysql: new Set(['information_schema', 'performance_schema', 'mysql', 'sys']),
};

/** Functions that read the catalogue of PostgreSQL, without any table behind FROM. */
const READING = /^(?:format_type|pg_get_\w+|pg_ls_\w+|pg_size_pretty|pg_stat_get_\w+|pg_\w+_size)$/;

/** Functions of PostgreSQL's own that read what their arguments name. */
const READS_ANYTHING = /_to_xml|^(?:ts_stat|ts_rewrite|nextval|setval|currval|lo_\w+|loread|pg_read_\w+)$/;

/** A table of PostgreSQL's own that has data of users. */
const LARGE_OBJECTS = 'pg_largeobject';

/** The views of an extension, whose schema anybody may choose, and its functions. */
export const STATISTICS = ['pg_stat_statements', 'pg_stat_statements_info'];

/** What a statement reads and calls, as long as that can be the server's own. */
export class CatalogueNames {
  readonly #isPostgres: boolean;
  readonly #schemas: ReadonlySet<string>;
  readonly #relations = new Set<string>();
  readonly #functions = new Set<string>();
  #count = 0;
  #isOther = false;

  constructor(engine: Engine) {
    this.#isPostgres = engine === 'postgres';
    this.#schemas = SYSTEM_SCHEMAS[this.#isPostgres ? 'postgres' : 'mysql'];
  }

  /** Null if something is not the server's own, or the statement does not read a catalogue. */
  read(): CatalogueRead | null {
    const [relations, functions] = [[...this.#relations], [...this.#functions]];
    const reads = this.#count > 0 || (functions.length > 0 && functions.every((name) => READING.test(name)));
    return reads && !this.#isOther ? { relations, functions } : null;
  }

  /** The name of a table or view, in its parts. */
  addRelation(parts: readonly string[]): void {
    const name = parts.at(-1) ?? '';
    const schema = parts.at(-2);
    if (schema === undefined && !this.#isPostgres) {
      this.#isOther ||= name !== 'dual';
      return;
    }
    this.#count++;
    if (schema === undefined) this.#relations.add(name);
    const isOwn = schema === undefined ? /^pg_[a-z0-9_]+$/.test(name) : this.#isSystem(schema, name);
    this.#isOther ||= !isOwn || name === LARGE_OBJECTS;
  }

  addFunction(parts: readonly string[]): void {
    const name = parts.at(-1) ?? '';
    const schema = parts.at(-2);
    this.#functions.add(name);
    if (schema !== undefined) this.#isOther ||= !this.#isSystem(schema, name);
    else
      this.#isOther ||= this.#isPostgres
        ? !/^[a-z_][a-z0-9_]*$/.test(name)
        : !MYSQL_FUNCTIONS.has(name.toLowerCase());
    this.#isOther ||= READS_ANYTHING.test(name);
  }

  #isSystem(schema: string, name: string): boolean {
    if (this.#isPostgres && STATISTICS.includes(name)) return true;
    return this.#schemas.has(this.#isPostgres ? schema : schema.toLowerCase());
  }
}
