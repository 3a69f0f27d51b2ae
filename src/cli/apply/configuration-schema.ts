import { type Static, type TSchema, Type } from 'typebox';
import { KINDS } from '../../accounts/account-row.ts';
import { MEMBER_STATUSES } from '../../members/member-row.ts';
import { REASONS } from '../../silences/silence-row.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { PLANS } from '../../vocabulary/plans.ts';
import { ROLE_IDS } from '../../vocabulary/role-permissions.ts';
import { TLS_MODES } from '../../vocabulary/tls-modes.ts';
import type { Catalogue } from '../command.ts';

// What `apply` reads. A description is what an editor shows of a field, and what an error says of a wrong one.

const Name = text('A name of 1 to 200 characters.');
const Port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'A port, 1 to 65535.' });

// A file must not be able to send a secret of the service itself to a database.
const Environment = Type.String({
  pattern: '^(?!DBVITALS_|DATABASE_URL$)[A-Za-z_][A-Za-z0-9_]*$',
  description: 'The name of an environment variable, none of the settings of dbvitals.',
});
const Path = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: "A path; one that is not absolute begins at this file's folder.",
});

const SecretPath = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'The path of a file in the folder of --secrets-dir, where it begins.',
});

const Secret = (what: string) =>
  closed(
    { env: Type.Optional(Environment), file: Type.Optional(SecretPath) },
    {
      minProperties: 1,
      maxProperties: 1,
      description: `${what} as {env: NAME} or {file: PATH}: it must not stand here itself.`,
    },
  );

const Member = closed(
  {
    email: text('An e-mail address, once in an account.'),
    name: Name,
    roles: Type.Array(word(ROLE_IDS), {
      minItems: 1,
      uniqueItems: true,
      description: `Roles, each once: ${ROLE_IDS.join(', ')}.`,
    }),
    status: Type.Optional(
      word(
        MEMBER_STATUSES,
        'Left out it stays as it is; a new member is active, and joins by "member link".',
      ),
    ),
  },
  { description: 'A person, known by the e-mail address: email, name and roles.' },
);

const Address = closed(
  {
    engine: word(ENGINES),
    host: text('A host name, an address, several as one:5432,two:5433, or the path of a Unix socket.', 1_000),
    port: Type.Optional(Port),
    database: Type.Optional(text('The name of a database (default: postgres; of MySQL none).')),
    username: text('The name of the login.'),
  },
  {
    description:
      'Where the database is, instead of url: engine, host, username; port and database where need be.',
  },
);

const Ssh = closed(
  {
    username: text('The name of the login at the SSH server.'),
    host: Type.String({
      pattern: '^[0-9A-Za-z_.:-]{1,255}$',
      description: 'The host name or address of the SSH server.',
    }),
    port: Type.Optional(Port),
    key: Type.Optional(Secret('The private key, which has no passphrase,')),
  },
  {
    description:
      'The SSH server that the database is reached through: username, host; port and key where need be.',
  },
);

function connection(checks: Catalogue['checks']) {
  return closed(
    {
      name: Name,
      url: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 4_096 }), Secret('The URL')], {
          description:
            'postgres://user@host:5432/database, mysql:// or mariadb://user@host:3306; with its password only as {env: NAME} or {file: PATH}.',
        }),
      ),
      address: Type.Optional(Address),
      password: Type.Optional(Secret('The password')),
      every: Type.Optional(
        text('Time between health checks: 10s to 7d, a whole number and s, m, h or d (default: 5m).'),
      ),
      tls: Type.Optional(word(TLS_MODES, 'Default: verify-full; none on a Unix socket.')),
      ca_file: Type.Optional(Path),
      expose_password: Type.Optional(
        Type.Boolean({
          description:
            'Whether a server that asks for the password in clear text or as MD5 gets it: true or false (default).',
        }),
      ),
      expected_standbys: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000,
          description: 'Standbys that the server must have, 0 to 1000 (default: 0).',
        }),
      ),
      ssh: Type.Optional(Ssh),
      thresholds: Type.Optional(thresholds(checks)),
      silences: Type.Optional(Type.Array(silence(checks), { description: 'A list of silences.' })),
    },
    {
      description:
        'A database that is watched, known by its name in the account: at least name, and url or address.',
    },
  );
}

function thresholds(checks: Catalogue['checks']) {
  const named = checks.flatMap(({ id, title, thresholds: own = {} }) => {
    const numbers = Object.entries(own).map(([name, preset]) => [name, number(preset)] as const);
    const description = `${title}: ${Object.keys(own).join(', ')}.`;
    return numbers.length === 0 ? [] : [[id, closed(Object.fromEntries(numbers), { description })] as const];
  });
  const schema = Type.Partial(Type.Object(Object.fromEntries(named)), {
    additionalProperties: false,
    description: "Thresholds that are not the check's own, by check and name.",
  });
  return Type.Unsafe<Record<string, Record<string, number>>>(schema);
}

function number(preset: number): TSchema {
  return Type.Optional(
    Type.Number({ minimum: 0, maximum: 1e15, description: `A number from 0 (default: ${preset}).` }),
  );
}

function silence(checks: Catalogue['checks']) {
  return closed(
    {
      check: Type.String({
        enum: checks.map(({ id }) => id),
        description: 'The id of a check, as docs/checks has them.',
      }),
      object: Type.Optional(text('The object as its finding names it (default: all).')),
      reason: word(REASONS),
      note: text('Why, in 1 to 200 characters, for those who come later.'),
      until: Type.Optional(
        text(
          'When it ends, ten years ahead at most: a date such as 2030-01-31, the end of that day in UTC, or a date-time such as 2030-01-31T18:00:00Z (default: never).',
        ),
      ),
    },
    { description: 'A finding to live with, known by check and object: at least check, reason and note.' },
  );
}

/** The schema of the file, with the thresholds and ids of these checks. */
export function configurationSchema(checks: Catalogue['checks']) {
  const account = closed(
    {
      name: Name,
      kind: Type.Optional(word(KINDS, 'Default of a new account: company.')),
      plan: word(PLANS),
      requests_per_minute: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100_000,
          description:
            'A limit of its own for each key, 1 to 100000, with the plan enterprise alone (default: 100).',
        }),
      ),
      members: Type.Optional(Type.Array(Member, { description: 'A list of members.' })),
      connections: Type.Optional(Type.Array(connection(checks), { description: 'A list of connections.' })),
    },
    { description: 'An account, known by its name: at least name and plan.' },
  );
  return closed(
    { accounts: Type.Array(account, { description: 'A list of accounts.' }) },
    {
      patternProperties: { '^x-': true }, // for anchors that several share, as compose files have it
      description: 'What "dbvitals apply" reads: accounts, a list.',
    },
  );
}

/** What the file says of an account once it keeps to the schema. */
export type WrittenAccount = Static<ReturnType<typeof configurationSchema>>['accounts'][number];
export type WrittenConnection = NonNullable<WrittenAccount['connections']>[number];
export type WrittenSilence = NonNullable<WrittenConnection['silences']>[number];
/** Where a secret stands: one of the two is there. */
export type SecretPlace = Static<ReturnType<typeof Secret>>;

function text(description: string, maxLength = 200) {
  return Type.String({ minLength: 1, maxLength, description });
}

function word<const Word extends string>(words: readonly Word[], more = '') {
  const description = `One of ${words.join(', ')}. ${more}`.trim();
  return Type.Unsafe<Word>({ type: 'string', enum: words, description });
}

function closed<Fields extends Record<string, TSchema>>(fields: Fields, options: Record<string, unknown>) {
  return Type.Object(fields, { additionalProperties: false, ...options });
}
