import { writtenEndpoint } from '../../../http/endpoint.ts';
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
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { listFleetMeasures } from '../../../runs/measures/list-fleet-measures.ts';
import { tagParameter } from '../tag-parameter.ts';
import { itemWriter, raw, text, writeList } from '../write-records.ts';
import {
  checkId,
  latestValue,
  METRIC_FORM,
  metricName,
  place,
  unit,
  WRONG_METRIC,
  writeLatestValue,
  writePlace,
  writeUnit,
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

const writeItem = itemWriter<Static<typeof Item>>({
  connection_id: raw,
  connection_name: text,
  tags: raw,
  metric: text,
  unit: writeUnit,
  check_id: text,
  ...writePlace,
  ...writeLatestValue,
});

const LIST: KeysetList = {
  name: 'fleet measures',
  form: [isNumber, (part) => isNumber(part) && Number(part) < 2 ** 31],
  place: ({ 0: connection, 14: series }) => [connection ?? '', series ?? ''],
};

/** The latest values of one metric on all connections. */
export const fleetMeasures = writtenEndpoint({
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
  async write(read, request) {
    const { accountId, query } = request;
    const { metric, tag: tags = null } = query;
    if (metric === undefined) throw invalidParameter('metric', `metric ${WRONG_METRIC}`);
    const { rows, meta, link } = await readKeyset(LIST, request, (after, limits) =>
      listFleetMeasures(read, accountId, { metric, tags }, { after, ...limits, most: COUNTED + 1 }),
    );
    return { json: writeList(rows.map(writeItem), meta), link };
  },
});
