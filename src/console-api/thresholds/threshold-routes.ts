import { Readable } from 'node:stream';
import { everyCheck } from '../../checks/catalogue.ts';
import { thresholdFacts } from '../../checks/threshold-facts.ts';
import { changeOverrides, requireScope } from '../../connections/thresholds/change-overrides.ts';
import { changeOwnThresholds } from '../../connections/thresholds/change-own-thresholds.ts';
import { defaultsOf } from '../../connections/thresholds/effective-thresholds.ts';
import {
  listOverrides,
  listThresholdConnections,
  readAuthors,
} from '../../connections/thresholds/list-overrides.ts';
import { previewThresholds, type ThresholdScope } from '../../connections/thresholds/preview-thresholds.ts';
import { exportThresholds } from '../../connections/thresholds/threshold-file.ts';
import { Rejection } from '../../platform/rejection.ts';
import { count } from '../../platform/schema/fields.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { familyOfCheck } from '../../vocabulary/engines.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { OwnThresholds, ThresholdChange, ThresholdList, ThresholdPreview } from './threshold-schemas.ts';

/** The most connections in a list. */
const LISTED = 1_000;

const checks = everyCheck.flatMap((check): Static<typeof ThresholdList>['checks'] => {
  const { id: check_id, title, category } = check;
  const thresholds = thresholdFacts(check).map(({ level, ...facts }) => ({
    ...facts,
    default: defaultsOf(check_id)[facts.name] ?? 0,
    level: level && { severity: level.severity, metric: level.metric, comparison: level.comparison },
  }));
  return thresholds.length === 0
    ? []
    : [{ check_id, title, category, engine: familyOfCheck(check_id) ?? 'any', thresholds }];
});

const list = consoleRoute({
  method: 'GET',
  path: '/thresholds',
  permission: 'health:read',
  response: ThresholdList,
  async handler({ actor: { accountId }, read }) {
    const [overrides, connections] = await read((run) =>
      Promise.all([listOverrides(run, accountId), listThresholdConnections(run, accountId)]),
    );
    const own = new Map<string, number>();
    for (const { thresholds } of connections) {
      for (const id of Object.keys(thresholds)) own.set(id, (own.get(id) ?? 0) + 1);
    }
    return {
      checks,
      overrides: overrides.map(({ changed_at, ...one }) => ({
        ...one,
        changed_at: changed_at.toISOString(),
      })),
      own: [...own].map(([check_id, connections]) => ({ check_id, connections })),
      connections: connections.length,
    };
  },
});

const listOwn = consoleRoute({
  method: 'GET',
  path: '/thresholds/connections',
  permission: 'health:read',
  query: Type.Object({
    check: Type.String({ pattern: '^[A-Z0-9_]{1,60}$', description: 'check must be the ID of a check.' }),
  }),
  response: OwnThresholds,
  async handler({ actor: { accountId }, query: { check }, read }) {
    return read(async (run) => {
      const all = await listThresholdConnections(run, accountId);
      const found = all.filter(({ thresholds }) => thresholds[check] !== undefined);
      const shown = found.slice(0, LISTED);
      const authors = await readAuthors(
        run,
        accountId,
        shown.map(({ id }) => id),
      );
      const authorOf = new Map(authors.map((one) => [`${one.connection_id} ${one.subject}`, one]));
      return {
        total: found.length,
        data: shown.map(({ id, name, thresholds }) => ({
          id,
          name,
          thresholds: Object.entries(thresholds[check] ?? {}).map(([threshold, value]) => {
            const author = authorOf.get(`${id} ${check} ${threshold}`);
            return {
              name: threshold,
              value,
              changed_at: author?.changed_at.toISOString() ?? null,
              changed_by: author?.changed_by ?? null,
            };
          }),
        })),
      };
    });
  },
});

const change = consoleRoute({
  method: 'POST',
  path: '/thresholds',
  permission: 'connections:write',
  body: ThresholdChange,
  response: Type.Object({ changed: count('thresholds, or connections if the body names some') }),
  cost: 5,
  async handler({ body, change }) {
    const scope = scopeOf(body);
    const changed =
      'tag' in scope
        ? await changeOverrides(change, scope.tag, body.thresholds)
        : await changeOwnThresholds(change, scope.connectionIds, body.thresholds);
    return { changed };
  },
});

/** Each may judge 1,000 runs again. */
const previews = new ConcurrencyLimit(
  { ofAll: 8, ofAccount: 2 },
  'Too many previews of thresholds are running',
  2,
);

const preview = consoleRoute({
  method: 'POST',
  path: '/thresholds/preview',
  permission: 'health:read',
  body: ThresholdChange,
  response: ThresholdPreview,
  // It reads the last run of up to 1,000 connections.
  cost: 10,
  async handler({ actor: { accountId }, body, read }) {
    const leave = previews.enter(accountId);
    try {
      return await read((run) => previewThresholds(run, accountId, scopeOf(body), body.thresholds));
    } finally {
      leave();
    }
  },
});

const exportFile = consoleRoute({
  method: 'GET',
  path: '/thresholds/export',
  permission: 'health:read',
  response: 'stream',
  async handler({ actor: { accountId }, read }) {
    const text = await read((run) => exportThresholds(run, accountId));
    return {
      type: 'application/yaml; charset=utf-8',
      filename: 'thresholds.yaml',
      stream: Readable.from([text]),
    };
  },
});

/** The routes of thresholds. */
export const thresholdRoutes: ConsoleRoute[] = [list, listOwn, change, preview, exportFile];

function scopeOf({ tag, connections }: ThresholdChange): ThresholdScope {
  if (tag !== undefined && connections !== undefined)
    throw new Rejection('invalid_parameter', 'Send a tag or connections, not both.', { parameter: 'tag' });
  return connections === undefined ? { tag: requireScope(tag ?? null) } : { connectionIds: connections };
}
