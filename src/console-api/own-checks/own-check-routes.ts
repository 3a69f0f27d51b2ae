import { actorProperties } from '../../accounts/sign-in/sessions.ts';
import {
  countOwnCheckConnections,
  listOwnChecks,
  type StoredOwnCheck,
} from '../../connections/own-checks/list-own-checks.ts';
import { TIMEOUT_SECONDS } from '../../connections/own-checks/own-check-rules.ts';
import { removeOwnCheck } from '../../connections/own-checks/remove-own-check.ts';
import { MOST_OWN_CHECKS, setOwnCheck } from '../../connections/own-checks/set-own-check.ts';
import { tryOwnCheck } from '../../monitor/own-checks/try-own-check.ts';
import { conflict, notFound } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { throwReadable } from '../unreadable-connection.ts';
import {
  NewOwnCheckBody,
  OwnCheckBody,
  OwnChecks,
  ownCheckIn,
  ShownOwnCheck,
  TriedOwnCheck,
  TryOwnCheckBody,
} from './own-check-schemas.ts';

const list = consoleRoute({
  method: 'GET',
  path: '/own-checks',
  permission: 'health:read',
  response: OwnChecks,
  async handler({ actor: { accountId }, read }) {
    const [stored, counts] = await read((run) =>
      Promise.all([listOwnChecks(run, accountId), countOwnCheckConnections(run, accountId)]),
    );
    return {
      items: stored.map((own) => shown(own, counts.get(own.id) ?? 0)),
      limits: { most: MOST_OWN_CHECKS, timeout: TIMEOUT_SECONDS.most },
    };
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/own-checks',
  permission: 'checks:write',
  body: NewOwnCheckBody,
  response: ShownOwnCheck,
  status: 201,
  cost: 5,
  async handler({ actor: { accountId }, body: { id, ...body }, change, read }) {
    const wanted = ownCheckIn(id, body);
    const own = await change(async (made) => {
      const known = await listOwnChecks(within(made.client), accountId);
      if (known.some((one) => one.id === wanted.id))
        throw conflict('id', 'The account has an own check of this id: change it, or choose another id.');
      return setOwnCheck(made, wanted);
    });
    const counts = await read((run) => countOwnCheckConnections(run, accountId));
    return shown(own, counts.get(own.id) ?? 0);
  },
});

const change = consoleRoute({
  method: 'PATCH',
  path: '/own-checks/:check',
  permission: 'checks:write',
  body: OwnCheckBody,
  response: ShownOwnCheck,
  cost: 5,
  async handler({ actor: { accountId }, body: { seen, ...body }, params, change: inAccount, read }) {
    const own = await inAccount(async (made) => {
      const known = await listOwnChecks(within(made.client), accountId);
      const stored = known.find(({ id }) => id === params['check']);
      if (!stored) throw notFound();
      if (stored.changed_at.toISOString() !== seen)
        throw conflict(
          null,
          `${stored.changed_by} changed it after you opened it. Check the current values, then change it again.`,
        );
      return setOwnCheck(made, ownCheckIn(stored.id, body));
    });
    const counts = await read((run) => countOwnCheckConnections(run, accountId));
    return shown(own, counts.get(own.id) ?? 0);
  },
});

const remove = consoleRoute({
  method: 'DELETE',
  path: '/own-checks/:check',
  permission: 'checks:write',
  response: null,
  async handler({ params, change: inAccount }) {
    await inAccount((made) => removeOwnCheck(made, params['check'] ?? ''));
  },
});

/** Each may hold a child process for a minute. */
const trials = new ConcurrencyLimit({ ofAll: 6, ofAccount: 2 }, 'Too many statements are being tried', 5);

const tryOut = consoleRoute({
  method: 'POST',
  path: '/own-checks/try',
  permission: 'checks:write',
  body: TryOwnCheckBody,
  response: TriedOwnCheck,
  cost: 10,
  async handler({ actor, body, caller, change: inAccount, parts, reply, requireStill, store }) {
    const { connection_id: connectionId, ...judged } = body;
    const { secret, allowPrivateTargets, tokenCommands, log, closing } = parts;
    const deps = { writer: store.writer, secret, allowPrivateTargets, tokenCommands, log };
    const tried = { ...judged, sql: judged.sql.trim(), database: judged.database?.trim() || null };
    const leave = trials.enter(actor.accountId);
    const left = new AbortController();
    const stop = () => left.abort(new Error('nobody waits for the statement any more'));
    reply.raw.once('close', stop);
    try {
      const { cost, ...trial } = await tryOwnCheck(
        { ...deps, actor: actorProperties(actor, caller) },
        { accountId: actor.accountId, connectionId },
        tried,
        { change: inAccount, signal: AbortSignal.any([closing, left.signal]) },
      ).catch(throwReadable);
      await requireStill();
      return { ...trial, milliseconds: Math.round(cost.milliseconds) };
    } finally {
      reply.raw.off('close', stop);
      leave();
    }
  },
});

/** The routes of own checks. */
export const ownCheckRoutes: ConsoleRoute[] = [list, add, change, remove, tryOut];

function shown(own: StoredOwnCheck, connections: number) {
  return { ...own, tags: [...own.tags], connections, changed_at: own.changed_at.toISOString() };
}
