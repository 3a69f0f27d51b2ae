import { writtenEndpoint } from '../../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../../http/paging.ts';
import { wholeNumber } from '../../../http/query-parameters.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { listMeasureTexts } from '../../../runs/measures/list-measures.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { itemWriter, raw, text, writeList } from '../write-records.ts';
import {
  checkId,
  latestValue,
  metricName,
  place,
  seriesId,
  unit,
  writeLatestValue,
  writePlace,
  writeUnit,
} from './measure-fields.ts';

const Measure = Type.Object(
  { id: seriesId, metric: metricName, unit, check_id: checkId, ...place, ...latestValue },
  { title: 'Measure', description: 'the latest value of a series of a connection' },
);

const writeMeasure = itemWriter<Static<typeof Measure>>({
  id: raw,
  metric: text,
  unit: writeUnit,
  check_id: text,
  ...writePlace,
  ...writeLatestValue,
});

/** The latest value of each series of a connection: at most 300. */
export const latestMeasures = writtenEndpoint({
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
  async write(read, { accountId, id, query, url }) {
    const measures = await readOfConnection(read, accountId, id, (connectionId) =>
      listMeasureTexts(read, accountId, connectionId),
    );
    const { length: total } = measures;
    const page = readPage({ per_page: Math.max(total, 1), ...query });
    const items = measures.slice(page.offset, page.offset + page.perPage).map(writeMeasure);
    return { json: writeList(items, pageMeta(page, total)), link: pageLinks(url, page, total) };
  },
});
