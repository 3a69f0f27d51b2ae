import { NotFound, Rejection } from '../vocabulary/rejection.ts';

/** A connection can't be as it was asked for. */
export class ConnectionRejected extends Rejection {
  /** `setting` is what the rejection is about, as the console names it, such as `ca_certificate`. */
  constructor(setting: string, message: string) {
    super('invalid_parameter', message, { parameter: setting });
  }
}

/** There is no such connection in the account, or it was removed. */
export class NoConnection extends NotFound {
  constructor(id: number) {
    super(`There is no connection ${id}.`);
  }
}
