import type { ReportedMeasured } from '../monitor/collected/accept-measured.ts';
import { nullable } from '../platform/schema/nullable.ts';
import { type Static, Type } from '../platform/schema/schema.ts';
import { stringEnum } from '../platform/schema/string-enum.ts';
import { READING_KINDS } from '../runs/changes/facts.ts';
import { PROVIDERS } from '../vocabulary/hosted/providers.ts';
import { FINDING_STATUSES, SEVERITIES } from '../vocabulary/severities.ts';
import { closed, list, Name } from './schema-parts.ts';

// The limits are above what a run of any server reports. Texts are shortened and cleaned where they are accepted.

const text = (maxLength: number) => Type.String({ maxLength });
/** A text that is stored as it is. */
const printable = (maxLength: number) => Type.String({ maxLength, pattern: '^[ -~]*$' });
const number = Type.Number({ minimum: -1e300, maximum: 1e300 });
/** What an interval of the store can hold. */
const seconds = Type.Number({ minimum: -1e9, maximum: 1e9 });
const total = Type.Number({ minimum: 0, maximum: 1e18 });
/** One of these words, or null. */
const wordOrNull = <const Word extends string>(...words: readonly Word[]) =>
  Type.Unsafe<Word | null>({ type: ['string', 'null'], enum: [...words, null] });
const row = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  maxProperties: 100,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: 4_000 },
});

const base64 = (maxLength: number) => Type.String({ maxLength, pattern: '^[A-Za-z0-9+/]*={0,2}$' });
const query = Type.String({ pattern: '^(?:-?[0-9]{1,19}|[0-9a-fA-F]{32}|[0-9a-fA-F]{64})$' });
const Version = Type.String({ pattern: '^[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9A-Za-z.+-]{1,80}$' });
const Run = Type.String({ pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

/** The body of POST /collector/enrol. */
export const Enrol = closed({
  token: text(200),
  name: Name,
  /** Ed25519, 32 bytes in base64. */
  public_key: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  version: Version,
});

/** The body of POST /collector/work. */
export const Work = closed({
  version: Version,
  /** How many more runs it can start now. */
  free: Type.Integer({ minimum: 0, maximum: 20 }),
  /** The runs that it has; any other run of its connections is handed out again. */
  running: list(Run, 100),
  /** The connections that it shows a person now. Absent = an older version. */
  looking: Type.Optional(list(Name, 1_000)),
  /** Results that wait there for delivery, and how old the oldest is. Absent = an older version. */
  buffered: Type.Optional(
    closed({
      results: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
      seconds: Type.Number({ minimum: 0, maximum: 1e9 }),
    }),
  ),
});

/**
 * The fields that were added to the requests of collectors, which the answer to each question for work lists. A collector sends none that
 * is not listed, because a service of the version before refuses fields that it does not know.
 */
export const TAKES = ['looking', 'buffered', 'at', 'catalogue', 'leftOut'] as const;

const Finding = closed({
  status: stringEnum(...FINDING_STATUSES),
  severity: stringEnum(...SEVERITIES),
  metric_line: text(2_000),
  remediation: text(8_000),
  database: text(1_000),
  object: nullable(text(1_000)),
  missing_grant: Type.Optional(text(8_000)),
  measured: Type.Optional(
    closed({
      metric: text(100),
      value: number,
      operator: stringEnum('>=', '<='),
      threshold: number,
    }),
  ),
});

const Outcome = closed({
  check: closed({ id: text(100) }),
  findings: Type.Array(Finding, { minItems: 1, maxItems: 5_000 }),
  measured: Type.Boolean(),
  unmeasured: list(text(1_000), 1_000),
  near: list(closed({ database: text(1_000), object: nullable(text(1_000)) }), 5_000),
  incomplete: Type.Optional(Type.Literal(true)),
});

const Measure = closed({
  checkId: text(100),
  database: text(1_000),
  metric: Type.String({ pattern: '^[a-z][a-z0-9_]{0,99}$' }),
  object: nullable(text(1_000)),
  value: number,
  operator: wordOrNull('>=', '<='),
  warning: nullable(number),
  critical: nullable(number),
  limit: Type.Optional(nullable(number)),
  grows: Type.Optional(Type.Literal(true)),
});

/** The kinds of facts that a server has. A member's changes have others, which no collector reports. */
const FACT_KINDS = [
  'setting',
  'version',
  'restart',
  'failover',
  'extension',
  'standby',
  'table',
  'column',
  'index',
  'constraint',
  'trigger',
  'more',
];
const MORE = { type: 'object', additionalProperties: false };
const FACT_TEXTS = [{ enum: FACT_KINDS }, text(4_000), text(8_000)];
const FACT_DETAILS = { ...MORE, properties: { source: text(1_000), database: text(1_000), of: text(1_000) } };

const Reading = closed({
  kind: stringEnum(...READING_KINDS),
  database: text(200),
  digest: printable(100),
  stored: Type.Optional(
    closed({
      basis: text(200),
      facts: Type.Unsafe<NonNullable<ReportedMeasured['readings'][number]['stored']>['facts']>({
        type: 'array',
        maxItems: 20_000,
        items: {
          type: 'array',
          items: [...FACT_TEXTS, FACT_DETAILS],
          minItems: 3,
          additionalItems: false,
        },
      }),
    }),
  ),
});

const Growth = closed({
  query,
  database: text(200),
  role: text(200),
  calls: total,
  seconds: total,
  rows: total,
  read: total,
  hit: total,
  temporary: total,
});

const Queries = closed({
  state: base64(1_000_000),
  grown: list(Growth, 200),
  calls: total,
  seconds: total,
  texts: Type.Unsafe<[string, string][]>({
    type: 'array',
    maxItems: 50,
    items: { type: 'array', items: [query, text(8_000)], minItems: 2, additionalItems: false },
  }),
  catalogue: Type.Optional(list(query, 200)),
});

const Server = closed({
  version: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  tls: nullable(printable(20)),
  provider: wordOrNull(...PROVIDERS),
});

const Measured = closed({
  outcomes: list(Outcome, 500),
  /** Absent = an older version. */
  leftOut: Type.Optional(list(text(1_000), 10_000)),
  samples: list(
    closed({ checkId: text(100), database: text(1_000), after: seconds, rows: list(row, 2_000) }),
    5_000,
  ),
  measures: list(Measure, 2_000),
  readings: list(Reading, 2_000),
  queries: nullable(Queries),
  cost: closed({ milliseconds: total, statements: total, bytes: total }),
  server: nullable(Server),
});

/** A time by the collector's clock: milliseconds since 1970. */
const Time = Type.Integer({ minimum: 0, maximum: 1e14 });

/** The body of POST /collector/result. */
export const Result = closed({
  run: Run,
  /** When it was measured. Absent = an older version. */
  at: Type.Optional(Time),
  measured: Measured,
});

/** The body of POST /collector/past: what was measured while the service was away, in the order of measurement. */
export const Past = closed({
  results: Type.Array(closed({ connection: Name, at: Time, measured: Measured }), {
    minItems: 1,
    maxItems: 50,
  }),
});

export type Enrol = Static<typeof Enrol>;
export type Work = Static<typeof Work>;
export type Result = Static<typeof Result>;
export type Past = Static<typeof Past>;
