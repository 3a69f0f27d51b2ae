import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { UNITS } from '../../vocabulary/units.ts';

/** How a value is compared with its thresholds: at or above them, or at or below them. */
const Operator = stringEnum('>=', '<=');

/** The number that a finding or a ticket comes from. */
export const FaultMeasure = Type.Object({
  metric: Type.String(),
  value: Type.Number(),
  operator: Operator,
  /** The threshold that the value has crossed. */
  threshold: Type.Number(),
});

/** When a value that only grows reaches its limit. */
const Forecast = Type.Object({
  /** Growth in a day, and its interval, in the metric's unit. */
  per_day: Type.Number(),
  per_day_low: Type.Number(),
  per_day_high: Type.Number(),
  full_at: nullable(timestamp('null = it has no limit')),
  full_earliest: nullable(timestamp('the earlier end of the interval')),
  full_latest: nullable(timestamp('the later end; null = perhaps never')),
});

/** Names a series of values to a person. Object and database are untrusted text of the monitored server. */
export const namesOfSeries = {
  series_id: Type.Integer({ minimum: 1 }),
  /** '' = a vital sign. */
  check_id: Type.String(),
  /** Lower case, with the base unit as its last word. */
  metric: Type.String(),
  /** Of the vital sign, or of the check. */
  title: Type.String(),
  unit: stringEnum(...UNITS),
  /** '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
};

const LatestMeasure = Type.Object({
  ...namesOfSeries,
  value: Type.Number({ description: 'exact, in the base unit' }),
  operator: nullable(Operator),
  warning: nullable(Type.Number()),
  critical: nullable(Type.Number()),
  /** The value at which the object is full. */
  limit: nullable(Type.Number()),
  forecast: nullable(Forecast),
});

export const ConnectionMeasures = Type.Object({
  measured_at: nullable(timestamp('time of the latest run; null before the first')),
  dropped: count('numbers that were not stored because the connection has 300 series'),
  measures: Type.Array(LatestMeasure),
});

const Values = Type.Array(nullable(Type.Number()));
const At = Type.Array(Type.Integer(), { description: 'Unix seconds, oldest first' });

const History = Type.Object({
  series_id: Type.Integer({ minimum: 1 }),
  resolution: stringEnum('run', 'five_minutes', 'hour', 'day'),
  at: At,
  /** As long as `at`; null = a gap. */
  last: Values,
  /** Of hours and days. */
  minimum: Type.Optional(Values),
  maximum: Type.Optional(Values),
  mean: Type.Optional(Values),
});

export const ConnectionHistory = Type.Object({
  from: timestamp('start of the range'),
  to: timestamp('end of the range'),
  /** In the order of the request. A series that the connection does not have is left out or has no points. */
  series: Type.Array(History),
});

/** The vital signs, which the fleet can be compared by. */
export const FleetMetrics = Type.Object({
  metrics: Type.Array(
    Type.Object({
      metric: Type.String(),
      title: Type.String(),
      unit: stringEnum(...UNITS),
      engines: Type.Array(stringEnum(...ENGINES)),
    }),
  ),
});

export const FleetMeasures = Type.Object({
  metric: Type.String(),
  from: timestamp('start of the range'),
  to: timestamp('end of the range'),
  /** In the order of the request; without those that were removed. */
  connections: Type.Array(
    Type.Object({
      connection_id: identifier('connection identifier'),
      /** At most 60; none if the connection does not measure it. */
      at: At,
      /** For `30d` and `13mo`: the means of days. */
      last: Values,
    }),
  ),
});

export type FaultMeasure = Static<typeof FaultMeasure>;
/** GET /connections/:id/measures */
export type ConnectionMeasures = Static<typeof ConnectionMeasures>;
export type LatestMeasure = Static<typeof LatestMeasure>;
/** GET /connections/:id/history?series=1,2,3&from=&to= */
export type ConnectionHistory = Static<typeof ConnectionHistory>;
/** GET /fleet/metrics */
export type FleetMetrics = Static<typeof FleetMetrics>;
/** GET /fleet/measures?metric=&connections=1,2,3&range=24h */
export type FleetMeasures = Static<typeof FleetMeasures>;
