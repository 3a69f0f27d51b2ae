import type { ApiRequest } from '../../http/api-request.ts';
import type { StoreHealth } from '../../store/store-health.ts';
import type { LogStep } from './request-steps.ts';

/** The state of a request under way. */
export interface RequestState {
  readonly request: ApiRequest;
  /** When it arrived, plus its deliberate delays, on this process's monotonic clock in milliseconds. */
  started: number;
  /** Its place among those that are not answered yet. */
  place: number;
  /** The request missed its deadline and was answered with an error. */
  abandoned: boolean;
  /** The health of the store that it waits for, which records a failure. */
  health: Pick<StoreHealth, 'failed'>;
  /** The id of its API key; undefined until identified. */
  keyId: number | undefined;
  /** How long its answer was delayed deliberately, in milliseconds. */
  heldBackMs: number;
  /** Logs a step. Undefined unless the log level is debug, so that other levels pay nothing. */
  readonly step: LogStep | undefined;
}
