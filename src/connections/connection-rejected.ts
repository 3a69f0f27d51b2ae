import { NotFound, Rejection } from '../vocabulary/rejection.ts';

/** The settings of a connection are not allowed. */
export class ConnectionRejected extends Rejection {
  /** `setting` is the rejected setting by its name in the console API, such as `ca_certificate`. */
  constructor(setting: string, message: string) {
    super('invalid_parameter', message, { parameter: setting });
  }
}

/** The connection does not exist in the account, or was removed. */
export class NoConnection extends NotFound {
  constructor(id: number) {
    super(`There is no connection ${id}.`);
  }
}
