import { count, identifier, score, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { WRONG_TAG } from '../../platform/text/tags.ts';
import { CONNECTION_TYPES } from '../../vocabulary/connection-types.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { PROVIDERS } from '../../vocabulary/hosted/providers.ts';
import { TLS_MODES } from '../../vocabulary/tls-modes.ts';
import { Status } from '../fleet/fleet-routes.ts';
import { singleLine, singleLineOrEmpty } from '../single-line.ts';
import { ExplainedFinding } from './findings.ts';

const Engine = stringEnum(...ENGINES);
const Tls = stringEnum(...TLS_MODES);
const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Name = singleLine(200, 'Enter a name of 1 to 200 characters.');
const Interval = Type.Integer({
  minimum: 10,
  maximum: 604_800,
  description: 'Enter the time between health checks in seconds, 10 to 604800 (7 days).',
});

/** A connection's settings, without passwords and keys. */
export const ConnectionSettings = Type.Object({
  id: identifier('connection identifier'),
  /** Increases with every change of the settings: send it back with a change. */
  version: Type.Integer(),
  name: Type.String(),
  engine: Engine,
  connection_type: stringEnum(...CONNECTION_TYPES),
  host: Type.String(),
  port: Type.Integer(),
  database: Type.String(),
  username: Type.String(),
  tls: Tls,
  has_password: Type.Boolean(),
  /** The name of the operator's command that prints the password; null = it logs in by a stored password, or by none. */
  token_source: nullable(Type.String()),
  /** Who hosts the database, as the last run recognised it; null = none that is known. */
  provider: nullable(stringEnum(...PROVIDERS)),
  password_exposable: Type.Boolean(),
  /** SHA-256 fingerprints of the certificates that are trusted in addition to the system's. */
  ca_fingerprints: Type.Array(Type.String()),
  ssh: nullable(
    Type.Object({
      username: Type.String(),
      host: Type.String(),
      port: Type.Integer(),
      has_key: Type.Boolean(),
      /** SHA-256 of the SSH server's host key, stored on first use; null before that. */
      host_key: nullable(Type.String()),
    }),
  ),
  /** Check id to threshold name to number: only thresholds that differ from the default. */
  thresholds: Type.Record(Type.String(), Type.Record(Type.String(), Type.Number())),
  expected_standbys: Type.Integer(),
  /** Whether the normalized texts of queries are read and stored. */
  query_texts: Type.Boolean(),
  /** Null for sample data, which is never checked. */
  interval_seconds: nullable(Type.Number()),
  /** From pulse to pulse; 0 = it has none. */
  pulse_seconds: Type.Integer(),
  /** Within which time a backup has to succeed; 0 = none is expected. */
  backup_expected_seconds: Type.Integer(),
  tags: Type.Array(Type.String()),
  created_at: timestamp('when it was added'),
});

/** The cost of a run on the monitored server. */
export const Cost = Type.Object({
  milliseconds: Type.Number(),
  statements: Type.Integer(),
  bytes: Type.Integer(),
});

/** A connection with its latest check and its score history. */
export const ConnectionDetail = Type.Object({
  settings: ConnectionSettings,
  score: nullable(score('latest score')),
  status: Status,
  stale: Type.Boolean(),
  /** Such as 18.4 or 8.0.36; null before the first check. */
  server_version: nullable(Type.String()),
  last_checked_at: nullable(timestamp('null before the first check')),
  next_due_at: nullable(timestamp('null for sample data')),
  /** Whether a check is running now. */
  running: Type.Boolean(),
  latest: nullable(
    Type.Object({
      id: identifier('health check identifier'),
      created_at: timestamp('when it was stored'),
      score: score('health score'),
      summary_text: Type.String(),
      cost: nullable(Cost),
      /** Worst first. */
      findings: Type.Array(ExplainedFinding),
    }),
  ),
  /**
   * 90 days, oldest first: the lowest, highest and last score of each half hour of the last 7 days, and before that the
   * last score of each day.
   */
  history: Type.Array(
    Type.Object({
      at: timestamp('when it was measured; the end of the day where it stands for one'),
      score: score('score'),
      in_maintenance: Type.Boolean({
        description: 'whether the connection was in a maintenance window; unknown, and false, of a day',
      }),
      of_day: Type.Boolean({ description: 'whether it is the last score of a day' }),
    }),
  ),
  open_tickets: count('open tickets that are not snoozed'),
});

/** A database's address as separate fields; a host that begins with / is a Unix socket. */
const Address = Type.Object(
  {
    engine: Engine,
    host: singleLine(1_000, 'Enter a host name, an IP address or the path of a Unix socket.'),
    port: Type.Optional(Port),
    database: Type.Optional(singleLineOrEmpty(200, 'Enter the name of a database.')),
    username: singleLine(200, 'Enter the name of the login.'),
  },
  { additionalProperties: false },
);

const Ssh = Type.Object(
  {
    username: singleLine(200, 'Enter the name of the SSH user.'),
    host: Type.String({
      pattern: '^[0-9A-Za-z_.:-]{1,255}$',
      description: 'Enter the host of the SSH server.',
    }),
    port: Type.Optional(Port),
    /** A private key without passphrase. If absent, the connection's stored key is used. */
    key: Type.Optional(Type.String({ maxLength: 16_384 })),
  },
  { additionalProperties: false },
);

/** Check id to threshold name to number; null restores the default. */
const Thresholds = Type.Record(
  Type.String({ maxLength: 60 }),
  Type.Record(
    Type.String({ maxLength: 60 }),
    Type.Union([Type.Number({ minimum: 0, maximum: 1e15 }), Type.Null()]),
  ),
);

/** Shared by add, change and test: either `url` (postgres://user:password@host/database) or `address`. */
const way = {
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 4_096 })),
  address: Type.Optional(Address),
  /** Overrides the password in the URL. */
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
  tls: Type.Optional(Tls),
  password_exposable: Type.Optional(Type.Boolean()),
  /** PEM: certificates, and public keys of a MySQL server. */
  ca_certificate: Type.Optional(Type.String({ minLength: 1, maxLength: 65_536 })),
  expected_standbys: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
  query_texts: Type.Optional(Type.Boolean()),
  /** 0 = no pulse. */
  pulse_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 60, description: 'Choose a pulse of 1 to 60 s, or none.' }),
  ),
  /** 0 = no backup is expected. */
  backup_expected_seconds: Type.Optional(
    Type.Union([Type.Literal(0), Type.Integer({ minimum: 3_600, maximum: 31_536_000 })], {
      description: 'Expect a backup within 1 hour to 365 days, or none.',
    }),
  ),
  thresholds: Type.Optional(Thresholds),
};

export const NewConnection = Type.Object(
  {
    name: Name,
    interval_seconds: Type.Optional(Interval),
    ssh: Type.Optional(Ssh),
    tags: Type.Optional(
      Type.Array(Type.String({ maxLength: 400 }), { maxItems: 100, description: WRONG_TAG }),
    ),
    ...way,
  },
  { additionalProperties: false },
);

/** Absent fields stay unchanged. `ssh: null` removes the tunnel. */
export const ConnectionChange = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    name: Type.Optional(Name),
    interval_seconds: Type.Optional(Interval),
    ssh: Type.Optional(Type.Union([Ssh, Type.Null()])),
    ...way,
  },
  { additionalProperties: false },
);

export const TestedConnection = Type.Object(
  { ssh: Type.Optional(Ssh), ...way },
  { additionalProperties: false },
);

export type ConnectionSettings = Static<typeof ConnectionSettings>;
export type ConnectionDetail = Static<typeof ConnectionDetail>;
export type NewConnection = Static<typeof NewConnection>;
export type ConnectionChange = Static<typeof ConnectionChange>;
export type TestedConnection = Static<typeof TestedConnection>;
