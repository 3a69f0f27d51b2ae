import { type Static, Type } from '../../../platform/schema/schema.ts';

// A file must not be able to send a secret of the service itself to a database.
const Environment = Type.String({
  pattern: '^(?!DBVITALS_|DATABASE_URL$)[A-Za-z_][A-Za-z0-9_]*$',
  description:
    'The name of an environment variable that --secret-env allows, and that is not a setting of dbvitals.',
});

const SecretPath = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'The path of a file in the folder of --secrets-dir, relative to that folder.',
});

/** The schema of the location of a secret, which is `what`. */
export function secretSchema(what: string) {
  return Type.Object(
    { env: Type.Optional(Environment), file: Type.Optional(SecretPath) },
    {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      description: `${what} as {env: NAME} or {file: PATH}: never write it into this file.`,
    },
  );
}

/** The location of a secret. Exactly one of the two fields is set. */
export type SecretPlace = Static<ReturnType<typeof secretSchema>>;
