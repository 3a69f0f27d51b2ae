import type { Row } from '../../../checks/fault.ts';
import { describeError } from '../failures/connect-failure.ts';

/** Runs a statement, or several of which the last one has rows, in a transaction of its own. */
type Read = (statements: string) => Promise<Row[]>;

/** SQLSTATE: there is no prepared statement of that name. */
const UNKNOWN_STATEMENT = '26000';

/** How a session of PostgreSQL plans a statement once and runs it often: a pulse takes as long to plan as to run. */
export class KeptPlans {
  readonly #read: Read;
  readonly #run: (statement: string) => Promise<unknown>;
  readonly #names = new Map<string, string>();
  #count = 0;
  #mayPrepare: boolean | null = null;
  readonly #processId: number | undefined;

  /**
   * `processId` is the process that the login told. A pooler tells a number of its own: behind it each transaction may have another
   * session, so nothing is prepared. `run` runs a statement outside of a transaction.
   */
  constructor(read: Read, run: (statement: string) => Promise<unknown>, processId: number | undefined) {
    this.#read = read;
    this.#run = run;
    this.#processId = processId;
  }

  /** Runs a statement, with `settings` for its transaction, and keeps its plan for the next time. */
  async read(settings: string, statement: string): Promise<Row[]> {
    this.#mayPrepare ??= await this.#isDirect();
    if (!this.#mayPrepare) return this.#read(settings + statement);
    const name = this.#names.get(statement);
    if (name === undefined) return this.#prepare(settings, statement);
    try {
      return await this.#read(`${settings}execute ${name}`);
    } catch (error) {
      if (describeError(error).code !== UNKNOWN_STATEMENT) throw error;
      this.#mayPrepare = false; // something between does not keep it
      return this.#read(settings + statement);
    }
  }

  async #isDirect(): Promise<boolean> {
    const [row] = await this.#read('select pg_backend_pid() as pid');
    return this.#processId !== undefined && row?.['pid'] === this.#processId;
  }

  async #prepare(settings: string, statement: string): Promise<Row[]> {
    const name = `dbvitals_${++this.#count}`;
    try {
      const rows = await this.#read(`${settings}prepare ${name} as ${statement};\nexecute ${name}`);
      this.#names.set(statement, name);
      return rows;
    } catch (error) {
      await this.#run(`deallocate ${name}`).catch(() => {}); // it may have been prepared before it failed
      throw error;
    }
  }
}
