import { LARGEST_THRESHOLD } from '../../connections/thresholds/change-overrides.ts';
import { MOST_CONNECTIONS } from '../../connections/thresholds/change-own-thresholds.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENGINE_FAMILIES } from '../../vocabulary/engines.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { THRESHOLD_UNITS } from '../../vocabulary/threshold-units.ts';

const Severity = stringEnum(...SEVERITIES);

const Threshold = Type.Object({
  name: Type.String(),
  unit: stringEnum(...THRESHOLD_UNITS),
  default: Type.Number(),
  /** Of the values of several tags, the one that counts. */
  stricter: stringEnum('lower', 'higher'),
  /** The fault from it on; null if it is compared with no single measured value. */
  level: nullable(
    Type.Object({ severity: Severity, metric: Type.String(), comparison: stringEnum('>=', '<=', '>', '<') }),
  ),
});

const CheckThresholds = Type.Object({
  check_id: Type.String(),
  title: Type.String(),
  category: Type.String(),
  engine: stringEnum(...ENGINE_FAMILIES, 'any'),
  thresholds: Type.Array(Threshold),
});

const Override = Type.Object({
  /** '' = all connections of the account. */
  tag: Type.String(),
  check_id: Type.String(),
  name: Type.String(),
  value: Type.Number(),
  changed_at: timestamp('when it was set'),
  changed_by: Type.String(),
});

/** Every threshold, and what the account and its tags set. */
export const ThresholdList = Type.Object({
  /** Every check that has thresholds. */
  checks: Type.Array(CheckThresholds),
  /** Those of the account come first. */
  overrides: Type.Array(Override),
  /** The connections that set a check's thresholds themselves. */
  own: Type.Array(Type.Object({ check_id: Type.String(), connections: count('connections') })),
  connections: count('of the account'),
});

/** The connections that set thresholds of a check themselves. */
export const OwnThresholds = Type.Object({
  total: count('connections; `data` has the first 1,000'),
  data: Type.Array(
    Type.Object({
      id: identifier('connection identifier'),
      name: Type.String(),
      thresholds: Type.Array(
        Type.Object({
          name: Type.String(),
          value: Type.Number(),
          /** Null = the change is older than the list of changes. */
          changed_at: nullable(timestamp('when it was set')),
          changed_by: nullable(Type.String()),
        }),
      ),
    }),
  ),
});

const wrongThresholds =
  'Send thresholds by check and name, each a number from 0 to 1e15, or null to remove it.';

/** Thresholds to set for connections themselves, for a tag, or for the account if neither is sent. */
export const ThresholdChange = Type.Object(
  {
    tag: Type.Optional(Type.String({ maxLength: 400, description: 'Send a tag, at most 400 characters.' })),
    connections: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        minItems: 1,
        maxItems: MOST_CONNECTIONS,
        uniqueItems: true,
        description: `Send the ids of 1 to ${MOST_CONNECTIONS} connections, each once.`,
      }),
    ),
    thresholds: Type.Record(
      Type.String({ maxLength: 60 }),
      Type.Record(
        Type.String({ maxLength: 60 }),
        Type.Union([Type.Number({ minimum: 0, maximum: LARGEST_THRESHOLD }), Type.Null()], {
          description: wrongThresholds,
        }),
        { maxProperties: 20, description: wrongThresholds },
      ),
      { minProperties: 1, maxProperties: 200, description: wrongThresholds },
    ),
  },
  { additionalProperties: false },
);

const PreviewedFinding = Type.Object({
  connection_id: identifier('the connection'),
  connection_name: Type.String(),
  check_id: Type.String(),
  title: Type.String(),
  database: Type.String(),
  object: nullable(Type.String()),
  /** False = the run did not keep which object it is. */
  is_named: Type.Boolean(),
  /** Null = no finding. */
  before: nullable(Severity),
  after: nullable(Severity),
  metric: Type.String(),
  value: Type.Number(),
  /** False = more than this value decides, and the run did not keep it. */
  is_certain: Type.Boolean(),
});

/** What other thresholds would have changed in the last runs. */
export const ThresholdPreview = Type.Object({
  connections: count('connections for which a value changes'),
  unchanged: count('other connections of the scope'),
  looked_at: count('connections whose last run was looked at'),
  not_measured: count('of these, connections whose last run did not measure a check, or without a run'),
  appear: count('findings that appear'),
  vanish: count('findings that vanish'),
  graver: count('findings that get more severe'),
  milder: count('findings that get less severe'),
  /** At most 200; those that appear come first. */
  findings: Type.Array(PreviewedFinding),
  /** Thresholds, such as `PG_DEAD_TUPLES.minimum_rows`, of which a run keeps no value to compare with. */
  unknown: Type.Array(Type.String()),
  /** Checks that may find more: a run keeps only the worst values. */
  may_have_more: Type.Array(Type.String()),
});

export type ThresholdList = Static<typeof ThresholdList>;
export type CheckThresholds = Static<typeof CheckThresholds>;
export type Threshold = Static<typeof Threshold>;
export type Override = Static<typeof Override>;
export type OwnThresholds = Static<typeof OwnThresholds>;
export type ThresholdChange = Static<typeof ThresholdChange>;
export type ThresholdPreview = Static<typeof ThresholdPreview>;
