import { type KeyBatch, type LogTemplate, requestsOf } from './key-batch.ts';

/**
 * The statement's parameters. A plain join writes numbers and identifiers as PostgreSQL arrays, which costs a tenth of the
 * driver's quoting. Only values that a client can choose need the driver's quoting. `deadline` is a time of the store's clock in
 * Unix seconds; null = none.
 */
export function admitParameters(
  batches: readonly KeyBatch[],
  deadline: number | null,
): { values: unknown[]; requests: number } {
  const templates = new Map<LogTemplate, number>();
  const [ofBatch, nths, ofTemplate, ids]: [number[], number[], number[], string[]] = [[], [], [], []];
  for (const [n, batch] of batches.entries()) {
    let nth = 0;
    for (const { applicant } of requestsOf(batch)) {
      nth += 1;
      let template = templates.get(applicant.template);
      if (template === undefined) {
        template = templates.size + 1;
        templates.set(applicant.template, template);
      }
      ofBatch.push(n + 1);
      nths.push(nth);
      ofTemplate.push(template);
      ids.push(applicant.requestId);
    }
  }
  const array = (list: readonly (number | string)[]) => `{${list.join()}}`;
  const distinct = [...templates.keys()];
  const values = [
    array(batches.map(({ first }) => first.accountId)),
    array(batches.map(({ first }) => first.apiKeyId)),
    array(batches.map(({ first }) => first.plan)),
    array(batches.map(({ generation }) => generation ?? 'null')),
    array(batches.map(({ fresh }) => fresh.length)),
    array(batches.map(({ kept }) => kept.length)),
    array(batches.map(({ unprepared }) => unprepared.length)),
    array(batches.map(({ first }) => first.accessVersion)),
    ...[ofBatch, nths, ofTemplate, ids].map(array),
    distinct.map(({ status }) => status),
    distinct.map(({ errorCode }) => errorCode),
    distinct.map(({ method }) => method),
    distinct.map(({ pagePath }) => pagePath),
    distinct.map(({ query }) => query),
    distinct.map(({ sourceIp }) => sourceIp),
    distinct.map(({ userAgent }) => userAgent),
    deadline,
  ];
  return { values, requests: ids.length };
}
