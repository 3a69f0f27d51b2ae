/** Node's code of a thrown value, such as `ECONNREFUSED`, which Nodemailer puts under its own; empty = none. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const code: unknown = Reflect.get(error, 'originalCode') ?? Reflect.get(error, 'code');
  return typeof code === 'string' ? code : '';
}
