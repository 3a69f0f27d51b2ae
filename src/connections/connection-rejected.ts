/** What was wanted of a connection can't be; one sentence that says what to do, and shows no secret. */
export class RefusedConnection extends Error {
  /** The setting that it is about, as the console names it, such as `ca_certificate`. */
  readonly setting: string;

  constructor(setting: string, message: string) {
    super(message);
    this.setting = setting;
  }
}

/** There is no such connection in the account, or it was removed. */
export class NoConnection extends Error {
  constructor(id: number) {
    super(`There is no connection ${id}.`);
  }
}
