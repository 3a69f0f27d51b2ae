import type { validatorOnUse } from '../http/edge/compile-schemas.ts';
import { Rejection } from '../platform/rejection.ts';

/** The body, if its form is valid. Throws a {@link Rejection} that names the place of the problem, and never shows a value. */
export function validBody<Body>(validate: ReturnType<typeof validatorOnUse>, body: unknown): Body {
  if (validate(body)) return body as Body;
  const [problem] = validate.errors ?? [];
  const place = /^[\w/]{0,100}$/.test(problem?.instancePath ?? '') ? problem?.instancePath : '';
  throw new Rejection(
    'invalid_parameter',
    `The request has another form than this version expects${place ? ` at ${place}` : ''}.`,
  );
}
