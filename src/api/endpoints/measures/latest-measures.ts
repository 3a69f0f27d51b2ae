import { endpoint } from '../../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../../http/paging.ts';
import { wholeNumber } from '../../../http/query-parameters.ts';
import { Type } from '../../../platform/schema/schema.ts';
import { listMeasures } from '../../../runs/measures/list-measures.ts';
import { unitOf } from '../../../vocabulary/units.ts';
import { orNull } from '../or-null.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { checkId, latestValue, metricName, place, seriesId, unit } from './measure-fields.ts';

const Measure = Type.Object(
  { id: seriesId, metric: metricName, unit, check_id: checkId, ...place, ...latestValue },
  { title: 'Measure', description: 'the latest value of a series of a connection' },
);

/** The latest value of each series of a connection: at most 300. */
export const latestMeasures = endpoint({
  path: '/health/connections/:id/measures',
  operationId: 'listMeasures',
  summary: 'The latest values of a connection',
  description:
    'The values of the latest run, those of checks first: at most 300, all in one answer unless you give `per_page`. It is empty before the first run.',
  notFound: NO_CONNECTION,
  query: Type.Object({
    page: pagingParameters.page,
    per_page: wholeNumber('per_page', 'Maximum number of records per page; all without it.', {
      minimum: 1,
      maximum: 100,
    }),
  }),
  response: Type.Object({ data: Type.Array(Measure), meta: Meta }),
  reuse: 'tagged',
  async answer(read, { accountId, id, query, url }) {
    const latest = await readOfConnection(read, accountId, id, (connectionId) =>
      listMeasures(read, accountId, connectionId),
    );
    const measures = (latest?.measures ?? []).map(({ series_id, metric, check_id, ...measure }) => {
      const { database, object, value, operator, warning, critical, forecast } = measure;
      return {
        id: series_id,
        metric,
        unit: unitOf(metric),
        check_id: orNull(check_id),
        database: orNull(database),
        object,
        value,
        operator,
        warning,
        critical,
        measured_at: latest?.measured_at ?? '',
        full_at: forecast?.full_at ?? null,
      };
    });
    const { length: total } = measures;
    const page = readPage({ per_page: Math.max(total, 1), ...query });
    const data = measures.slice(page.offset, page.offset + page.perPage);
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total) };
  },
});
