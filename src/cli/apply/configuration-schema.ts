import { KINDS } from '../../accounts/account-row.ts';
import { MEMBER_STATUSES } from '../../accounts/members/member-row.ts';
import { TIME_OF_DAY } from '../../notifications/maintenance/quiet-hours.ts';
import { WEEKDAYS } from '../../notifications/maintenance/weekdays.ts';
import { type Static, type TSchema, Type } from '../../platform/schema/schema.ts';
import { REASONS } from '../../tickets/silences/silence-row.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { SHIPPED_AUTHORITIES } from '../../vocabulary/hosted/authorities.ts';
import { PLANS } from '../../vocabulary/plans.ts';
import { ROLE_IDS } from '../../vocabulary/role-permissions.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { TLS_MODES } from '../../vocabulary/tls-modes.ts';
import type { Catalogue } from '../command.ts';
import { ownCheckSchema } from '../own-checks/own-check-schema.ts';
import { OWN_CHECK_IDS, tagThresholdsSchema, thresholdsSchema } from '../thresholds/thresholds.ts';
import { destinationSchema } from './destination-schema.ts';
import { scopeSchema } from './scopes/scope-schema.ts';
import { secretSchema } from './secrets/secret-schema.ts';

// The schema of the file of `apply`. Editors show a field's description, and errors of `apply` quote it.

const Name = text('A name of 1 to 200 characters.');
const Port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'A port, 1 to 65535.' });

const Path = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: "A path, absolute or relative to this file's folder.",
});

const Member = closed(
  {
    email: text('An e-mail address, unique in the account.'),
    name: Name,
    roles: Type.Array(word(ROLE_IDS), {
      minItems: 1,
      uniqueItems: true,
      description: `Roles, each once: ${ROLE_IDS.join(', ')}.`,
    }),
    status: Type.Optional(
      word(MEMBER_STATUSES, 'Default: unchanged; a new member is active, and joins with "member link".'),
    ),
  },
  { description: 'A person, identified by the e-mail address: email, name and roles.' },
);

const Address = closed(
  {
    engine: word(ENGINES),
    host: text('A host name, an address, several as one:5432,two:5433, or the path of a Unix socket.', 1_000),
    port: Type.Optional(Port),
    database: Type.Optional(text('The name of a database (default: postgres; none for MySQL).')),
    username: text('The name of the login.'),
  },
  {
    description:
      'The address of the database, instead of url: engine, host, username; optional port and database.',
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
    key: Type.Optional(secretSchema('The private key without a passphrase')),
  },
  {
    description: 'The SSH server for a tunnel to the database: username, host; optional port and key.',
  },
);

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const COLLECTED = {
  collector: Type.Optional(
    text(
      'The name of the collector that measures it, whose own file has the address and the login; needs engine.',
    ),
  ),
  engine: Type.Optional(word(ENGINES, 'Only with collector.')),
};

function connection(checks: Catalogue['checks']) {
  return closed(
    {
      name: Name,
      url: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 4_096 }), secretSchema('The URL')], {
          description:
            'postgres://user@host:5432/database, mysql:// or mariadb://user@host:3306, pgbouncer://user@host:6432; with its password only as {env: NAME} or {file: PATH}.',
        }),
      ),
      address: Type.Optional(Address),
      ...COLLECTED,
      password: Type.Optional(secretSchema('The password')),
      every: Type.Optional(
        text('Time between health checks: 10s to 7d, a whole number and s, m, h or d (default: 5m).'),
      ),
      tls: Type.Optional(word(TLS_MODES, 'Default: verify-full; none on a Unix socket.')),
      ca_file: Type.Optional(Path),
      ca: Type.Optional(word(SHIPPED_AUTHORITIES, 'Certificates that dbvitals ships.')),
      ca_pem: Type.Optional(
        text('The certificates that sign the server, as PEM text, instead of ca_file.', 65_536),
      ),
      token_source: Type.Optional(text('The token source that prints the password.')),
      expose_password: flag(
        'Whether to send the password to a server that asks for it in clear text or as MD5: true or false (default).',
      ),
      expected_standbys: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 1_000,
          description: 'How many standbys the server should have, 0 to 1000 (default: 0).',
        }),
      ),
      pulse: Type.Optional(
        text(
          'How often to look at sessions and locks between two health checks: off, or 1s to 60s (default: 10s).',
        ),
      ),
      backup_expected: Type.Optional(
        text(
          'Within which time a backup has to succeed, such as 26h for a nightly one: off (default), or 1h to 365d.',
        ),
      ),
      query_texts: flag('Whether to store the texts of queries, without constants: true or false (default).'),
      tags: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'Labels (pci) and key:value (team:shop); env:production is the environment. Without this list the tags stay as they are.',
        }),
      ),
      ssh: Type.Optional(Ssh),
      thresholds: Type.Optional(thresholdsSchema(checks)),
      silences: Type.Optional(Type.Array(silence(checks), { description: 'A list of silences.' })),
    },
    {
      description:
        'A database to watch, identified by its name in the account: at least name, and url, address or collector.',
    },
  );
}

function silence(checks: Catalogue['checks']) {
  return closed(
    {
      check: Type.Union(
        [Type.String({ enum: checks.map(({ id }) => id) }), Type.String({ pattern: OWN_CHECK_IDS })],
        { description: 'The id of a check, such as PG_DEAD_TUPLES, see docs/checks; or of an own check.' },
      ),
      object: Type.Optional(text('The object, named as in the finding (default: all).')),
      reason: word(REASONS),
      note: text('The explanation for your team, 1 to 200 characters.'),
      until: Type.Optional(
        text(
          'When the silence ends, at most ten years ahead: a date such as 2030-01-31, the end of that day in UTC, or a date-time such as 2030-01-31T18:00:00Z (default: never).',
        ),
      ),
    },
    {
      description: 'A silenced finding, identified by check and object: at least check, reason and note.',
    },
  );
}

const AlertRule = closed(
  {
    name: Name,
    when: text(
      'The condition, such as score < 50, unreachable_seconds >= 10m, findings_critical >= 1, days_left < 7, blocked_seconds >= 45s, load_active_sessions > 20 or PG_CONN_SATURATION.connections_used_ratio >= 0.9.',
      300,
    ),
    clear: Type.Optional(
      Type.Number({ description: 'The value at which an alert is over (default: the one of when).' }),
    ),
    for: Type.Optional(text('How long the condition must hold, such as 10m; at most 30d (default: 0s).')),
    runs: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'In how many health checks in a row it must hold, 1 to 100 (default: 1).',
      }),
    ),
    severity: Type.Optional(word(SEVERITIES, 'Default: warning.')),
    connections: Type.Optional(scopeSchema),
    destinations: Type.Optional(
      Type.Array(text('The name of a destination of the account.'), {
        uniqueItems: true,
        description: 'Names of destinations that get its alerts (default: all; [] = none).',
      }),
    ),
    remind: Type.Optional(
      text('How often an open alert is repeated, 5m to 30d, or none (default: 12h; none for info).'),
    ),
    enabled: Type.Optional(
      Type.Boolean({ description: 'Whether it is evaluated: true (default) or false.' }),
    ),
  },
  { description: 'An alert rule, identified by its name in the account: at least name and when.' },
);

const Maintenance = closed(
  {
    name: Name,
    every: Type.Array(word(WEEKDAYS), {
      minItems: 1,
      uniqueItems: true,
      description: `Weekdays, each once: ${WEEKDAYS.join(', ')}.`,
    }),
    at: Type.String({ pattern: TIME_OF_DAY, description: 'The start in the time zone, such as "02:00".' }),
    for: text('How long it lasts, 1m to 7d, such as 2h.'),
    time_zone: Type.Optional(text('A time zone, such as Europe/Berlin (default: UTC).')),
    connections: Type.Optional(scopeSchema),
  },
  {
    description:
      'A maintenance window of each week, identified by its name in the account: at least name, every, at and for.',
  },
);

/** The schema of the file, with the thresholds and ids of these checks. */
export function configurationSchema(checks: Catalogue['checks']) {
  const account = closed(
    {
      name: Name,
      kind: Type.Optional(word(KINDS, 'Default for a new account: company.')),
      plan: word(PLANS),
      requests_per_minute: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100_000,
          description:
            'The request limit of each key, 1 to 100000, only with the plan enterprise (default: 100).',
        }),
      ),
      members: Type.Optional(Type.Array(Member, { description: 'A list of members.' })),
      connections: Type.Optional(Type.Array(connection(checks), { description: 'A list of connections.' })),
      alert_rules: Type.Optional(Type.Array(AlertRule, { description: 'A list of alert rules.' })),
      thresholds: Type.Optional(thresholdsSchema(checks)),
      tag_thresholds: Type.Optional(tagThresholdsSchema(checks)),
      destinations: Type.Optional(
        Type.Array(destinationSchema(), { description: 'A list of destinations.' }),
      ),
      checks: Type.Optional(Type.Array(ownCheckSchema, { description: 'A list of own checks.' })),
      maintenance: Type.Optional(
        Type.Array(Maintenance, { description: 'A list of recurring maintenance windows.' }),
      ),
    },
    { description: 'An account, identified by its name: at least name and plan.' },
  );
  return closed(
    { accounts: Type.Array(account, { description: 'A list of accounts.' }) },
    {
      patternProperties: { '^x-': true }, // for shared YAML anchors, as in compose files
      description: 'The configuration for "dbvitals apply": accounts, a list.',
    },
  );
}

/** An account in a valid file. */
export type WrittenAccount = Static<ReturnType<typeof configurationSchema>>['accounts'][number];
export type WrittenConnection = NonNullable<WrittenAccount['connections']>[number];
export type WrittenMaintenance = NonNullable<WrittenAccount['maintenance']>[number];
export type WrittenRule = NonNullable<WrittenAccount['alert_rules']>[number];
export type WrittenOwnCheck = NonNullable<WrittenAccount['checks']>[number];
export type WrittenSilence = NonNullable<WrittenConnection['silences']>[number];

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
