import { textIn } from '../columns.ts';
import type { Row } from '../fault.ts';

interface Wanted {
  /** Of SHOW GLOBAL STATUS, such as `Threads_connected`. */
  status?: readonly string[];
  /** Of SHOW GLOBAL VARIABLES, such as `max_connections`. */
  variables?: readonly string[];
}

/** Statements that read server figures, in every version and without a privilege. A missing figure gives no row. */
export function figures({ status = [], variables = [] }: Wanted): string[] {
  const named = (what: string, names: readonly string[]) =>
    names.length === 0
      ? []
      : [`show global ${what} where variable_name in (${names.map((name) => `'${name}'`).join(', ')})`];
  return [...named('status', status), ...named('variables', variables)];
}

/** The result of the statements of {@link figures}; other rows are ignored. */
export class Figures {
  readonly #values: ReadonlyMap<string, string>;

  constructor(rows: readonly Row[]) {
    this.#values = new Map(
      rows
        .filter((row) => 'Variable_name' in row)
        .map((row) => [textIn(row, 'Variable_name').toLowerCase(), textIn(row, 'Value')]),
    );
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  /** Throws if the server has no such figure. */
  text(name: string): string {
    const value = this.#values.get(name.toLowerCase());
    if (value === undefined) throw new TypeError(`The check's statements must give ${name}.`);
    return value;
  }

  /** Throws if the server has no such figure, or it is not a number. */
  number(name: string): number {
    const value = Number(this.text(name));
    if (!Number.isFinite(value)) throw new TypeError(`${name} must be a number.`);
    return value;
  }

  /** Whether it is ON, in any spelling. Throws if the server has no such figure. */
  on(name: string): boolean {
    return ['on', '1', 'yes', 'true'].includes(this.text(name).toLowerCase());
  }
}
