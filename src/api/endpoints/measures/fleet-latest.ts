import { endpoint } from '../../../http/endpoint.ts';
import {
  COUNTED,
  isNumber,
  type KeysetList,
  KeysetMeta,
  keysetParameters,
  readKeyset,
} from '../../../http/keyset.ts';
import { requiredText } from '../../../http/query-parameters.ts';
import { invalidParameter } from '../../../platform/rejection.ts';
import { identifier } from '../../../platform/schema/fields.ts';
import { Type } from '../../../platform/schema/schema.ts';
import {
  countFleetMeasures,
  type FleetMeasure,
  listFleetMeasures,
} from '../../../runs/measures/list-fleet-measures.ts';
import { unitOf } from '../../../vocabulary/units.ts';
import { orNull } from '../or-null.ts';
import { tagParameter } from '../tag-parameter.ts';
import {
  checkId,
  latestValue,
  METRIC_FORM,
  metricName,
  place,
  unit,
  WRONG_METRIC,
} from './measure-fields.ts';

const Item = Type.Object(
  {
    connection_id: identifier('connection identifier'),
    connection_name: Type.String({ description: 'connection name' }),
    tags: Type.Array(Type.String(), { description: 'tags of the connection' }),
    metric: metricName,
    unit,
    check_id: checkId,
    ...place,
    ...latestValue,
  },
  { title: 'FleetMeasure', description: 'the latest value of a metric on a connection' },
);

const LIST: KeysetList<FleetMeasure> = {
  name: 'fleet measures',
  form: [isNumber, (part) => isNumber(part) && Number(part) < 2 ** 31],
  place: ({ connection_id, series_id }) => [connection_id, series_id],
};

/** The latest values of one metric on all connections. */
export const fleetMeasures = endpoint({
  path: '/health/measures',
  operationId: 'listFleetMeasures',
  summary: 'The latest values of one metric on all connections',
  description:
    'By connection, for one panel over all databases. A connection that measures the metric for several databases or objects has one item for each; one that does not measure it has none.',
  query: Type.Object({
    metric: requiredText(
      'metric',
      'The metric, such as `cache_hit_ratio`, as in the measures of a connection. An unknown one returns an empty list.',
      WRONG_METRIC,
      METRIC_FORM,
    ),
    ...tagParameter,
    ...keysetParameters,
  }),
  response: Type.Object({ data: Type.Array(Item), meta: KeysetMeta }),
  reuse: 'tagged',
  async answer(read, request) {
    const { accountId, query } = request;
    const { metric, tag: tags = null } = query;
    if (metric === undefined) throw invalidParameter('metric', `metric ${WRONG_METRIC}`);
    const { rows, meta, link } = await readKeyset(
      LIST,
      request,
      () => countFleetMeasures(read, accountId, { metric, tags }, COUNTED + 1),
      (after, limits) => listFleetMeasures(read, accountId, { metric, tags }, { after, ...limits }),
    );
    const data = rows.map(({ series_id: _, check_id, database, measured_at, full_at, ...row }) => ({
      ...row,
      unit: unitOf(metric),
      check_id: orNull(check_id),
      database: orNull(database),
      measured_at: measured_at.toISOString(),
      full_at: full_at?.toISOString() ?? null,
    }));
    return { body: { data, meta }, link };
  },
});
