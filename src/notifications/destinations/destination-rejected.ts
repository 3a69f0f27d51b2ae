import { Rejection } from '../../vocabulary/rejection.ts';

/** The settings of a destination are not allowed. `setting` is their name in the console's API, such as `url`. */
export class DestinationRejected extends Rejection {
  constructor(setting: string, message: string) {
    super('invalid_parameter', message, { parameter: setting });
  }
}

/** Another destination, or too many of them, are in the way. */
export class DestinationConflict extends Rejection {
  constructor(setting: string | null, message: string) {
    super('conflict', message, { parameter: setting });
  }
}
