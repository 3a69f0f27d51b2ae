import { identifier, openSet, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { type TString, Type } from '../../../platform/schema/schema.ts';
import { UNITS, unitOf } from '../../../vocabulary/units.ts';
import { instant, number, text, type WriteValue } from '../write-records.ts';

/** What a metric's name must look like. */
export const METRIC_FORM = '^[a-z][a-z0-9_]{0,62}$';
export const WRONG_METRIC = 'must be the name of a metric, such as cache_hit_ratio.';

export const metricName: TString = Type.String({
  description: 'what is measured, such as cache_hit_ratio; an open set',
});
export const unit: TString = openSet(UNITS, 'base unit of the value');
/** Writes the unit of a metric. */
export const writeUnit: WriteValue = (metric) => text(unitOf(metric ?? ''));

/** Where a value was measured. */
export const place = {
  database: nullable(Type.String({ description: 'the database; null for the whole server' })),
  object: nullable(
    Type.String({
      description: 'the table, index, standby or the like; null for the whole database or server',
    }),
  ),
};

export const writePlace = { database: text, object: text };

/** The latest value of a series, and what it is compared with. */
export const latestValue = {
  value: Type.Number({
    description: 'the value of the latest run that measured the connection, in the unit',
  }),
  operator: nullable(
    openSet(['>=', '<='], 'how the value is compared with its thresholds; null if no check compares it'),
  ),
  warning: nullable(Type.Number({ description: 'threshold of a warning; null if there is none' })),
  critical: nullable(Type.Number({ description: 'threshold of a critical finding; null if there is none' })),
  measured_at: timestamp('time of that run'),
  full_at: nullable(
    timestamp('when the value reaches its limit, by the forecast; null if there is no limit or no forecast'),
  ),
};

export const writeLatestValue = {
  value: number,
  operator: text,
  warning: number,
  critical: number,
  measured_at: instant,
  full_at: instant,
};

export const checkId = nullable(
  Type.String({ description: 'code of the check that measures it; null for a vital sign of the server' }),
);

export const seriesId = identifier('identifies the series of the connection');
