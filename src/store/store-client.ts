import pg from 'pg';
import type { StoreAddress, StoreRole } from '../config/store-url.ts';
import { isTraced } from '../platform/telemetry/tracing.ts';
import { requireServerSignature, UNPROVED } from '../platform/unsafe/server-signature.ts';
import { keepPlans } from './pool/keep-plans.ts';
import { sharedPrimary } from './pool/primary.ts';
import { traceStatements } from './pool/trace-statements.ts';
import { StoreUnavailable } from './store-failure.ts';

/** Where a connection goes, as whom, and how it asks. */
interface Session {
  address: StoreAddress;
  role: StoreRole;
  /** In milliseconds; undefined = no limit. */
  statementTimeout: number | undefined;
  keepsPlans: boolean;
}

/** Settings that change how values are written, and that a server, a database or a role may set otherwise. */
const FORMATS = {
  timezone: 'UTC',
  datestyle: 'ISO,MDY',
  intervalstyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
};
const OPTIONS = Object.entries(FORMATS).map(([name, value]) => `-c ${name}=${value}`);

// Of these a pooler keeps a client's own on every server connection.
const POOLED = (['timezone', 'datestyle', 'standard_conforming_strings'] as const).map(
  (name) => `set_config('${name}', '${FORMATS[name]}', false)`,
);

/** A connection to the host of the store that is presumably the primary. */
export class StoreClient extends pg.Client {
  readonly #primary: ReturnType<typeof sharedPrimary>;
  readonly #at: number;
  readonly #role: StoreRole;

  constructor(config: pg.ClientConfig | undefined, { address, role, statementTimeout, keepsPlans }: Session) {
    const primary = sharedPrimary(address);
    const { at } = primary;
    const { pooled, ...host } = address[at] ?? {};
    const asRole = role === 'owner' ? [] : [`-c role=dbvitals_${role}`];
    const settings = { options: [...OPTIONS, ...asRole].join(' '), statement_timeout: statementTimeout };
    super({ ...config, ...(pooled ? { connectionString: pooled(role) } : settings), ...host });
    this.#primary = primary;
    this.#at = at;
    this.#role = role;
    this.on('error', () => this.leave());
    requireServerSignature(this, () => {
      this.connection.emit('error', new Error(UNPROVED));
      this.connection.stream.destroy();
    });
    if (pooled) this.query = unnamed(this);
    else if (keepsPlans) keepPlans(this);
    if (isTraced()) traceStatements(this, role);
  }

  // The pool passes a callback. A failed connection is reported only there.
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    if (!callback) return super.connect();
    super.connect((error: Error) => {
      if (error) {
        this.leave();
        // The driver leaves it open if something else than PostgreSQL answers.
        this.connection.stream.destroy();
      }
      callback(error);
    });
    return undefined;
  }

  /** Throws {@link StoreUnavailable} if the host is a standby, and an error if it gives another role than requested. */
  async prove(): Promise<void> {
    const { rows } = await this.query<{ role: string; standby: boolean }>(
      `select current_user as role, pg_is_in_recovery() as standby, ${POOLED.join(', ')}`,
    );
    const [found = { role: 'nobody', standby: false }] = rows;
    if (found.standby) {
      this.leave();
      throw new StoreUnavailable(
        'This host of the store is a standby: add the primary to the URL, or promote this host.',
      );
    }
    const wanted = `dbvitals_${this.#role}`;
    if (this.#role !== 'owner' && found.role !== wanted) {
      throw new Error(
        `The store gives ${wanted} the rights of ${found.role}: configure the pooler as described in docs/scaling.md.`,
      );
    }
    this.#primary.found(this.#at, this);
  }

  /** Directs later connections to the next host. */
  leave(): void {
    this.#primary.leave(this.#at);
  }
}

/** The client's `query` without statement names, which belong to a session: a pooler's client has no session of its own. */
function unnamed(client: pg.Client): pg.Client['query'] {
  const { query } = client;
  return ((statement: unknown, ...rest: unknown[]) => {
    // One that runs itself, such as an exchange, names its statements itself.
    const named =
      typeof statement === 'object' && statement !== null && 'name' in statement && !('submit' in statement);
    return Reflect.apply(query, client, [named ? { ...statement, name: undefined } : statement, ...rest]);
  }) as pg.Client['query'];
}
