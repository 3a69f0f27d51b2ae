import { backupChecks } from '../../checks/backups/backup-checks.ts';
import { catalogues } from '../../checks/catalogue.ts';
import { connectionFindings } from '../../checks/connection-findings.ts';
import { checksOf } from '../../checks/engine-catalogue.ts';
import { isOwnCheckId } from '../../checks/own/own-check.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { addSilence } from '../../tickets/silences/add-silence.ts';
import { endSilence } from '../../tickets/silences/end-silence.ts';
import { silencesInForce } from '../../tickets/silences/list-silences.ts';
import { REASONS, type SilenceRow } from '../../tickets/silences/silence-row.ts';
import { withdrawSilence } from '../../tickets/silences/undo-silences.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';

const Reason = stringEnum(...REASONS);

export const Silence = Type.Object({
  id: identifier('silence identifier'),
  connection_id: identifier('the connection'),
  check_id: Type.String(),
  /** Null = all objects of the check. */
  object: nullable(Type.String()),
  reason: Reason,
  note: Type.String(),
  created_at: timestamp('when it began'),
  /** Null = no end date. */
  until: nullable(timestamp('when it ends')),
});

const SilenceList = Type.Object({ data: Type.Array(Silence) });

const NewSilence = Type.Object({
  check_id: Type.String({ pattern: '^[A-Z0-9_]{1,60}$', description: 'Enter the ID of a check.' }),
  /** As its finding names it; absent = all objects of the check. */
  object: Type.Optional(singleLine(200, 'Enter the object as its finding names it, at most 200 characters.')),
  reason: Reason,
  note: singleLine(200, 'Explain why in 1 to 200 characters, for your team.'),
  until: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description:
        'Enter a date (2030-01-31, the end of that day in UTC), a date-time (2030-01-31T18:00:00Z) or a duration (7d).',
    }),
  ),
});

export type Silence = Static<typeof Silence>;

const engineOf = `
  select engine from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

const listSilences = consoleRoute({
  method: 'GET',
  path: '/connections/:id/silences',
  permission: 'health:read',
  response: SilenceList,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      const [connection] = await run(engineOf, [accountId, id]);
      if (!connection) throw notFound();
      return { data: (await run<SilenceRow>(silencesInForce, [accountId, id])).map(shown) };
    });
  },
});

const silence = consoleRoute({
  method: 'POST',
  path: '/connections/:id/silences',
  permission: 'connections:write',
  body: NewSilence,
  response: Silence,
  status: 201,
  async handler({ actor: { accountId }, body, change, id, read }) {
    const { check_id, object = null, reason, note, until } = body;
    const [connection] = await read((run) =>
      run<{ engine: keyof typeof catalogues }>(engineOf, [accountId, id]),
    );
    if (!connection) throw notFound();
    requireCheckOf(connection.engine, check_id);
    const wanted = {
      check_id,
      object,
      reason,
      note: note.trim(),
      until: until === undefined ? null : untilOf('until')(until),
    };
    return shown(await addSilence(change, id, wanted));
  },
});

const end = consoleRoute({
  method: 'DELETE',
  path: '/silences/:id',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await endSilence(change, id);
  },
});

const withdraw = consoleRoute({
  method: 'POST',
  path: '/silences/:id/undo',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await withdrawSilence(change, id);
  },
});

export const silenceRoutes: ConsoleRoute[] = [listSilences, silence, end, withdraw];

function requireCheckOf(engine: keyof typeof catalogues, id: string): void {
  if (isOwnCheckId(id)) return;
  const known = [...checksOf(catalogues[engine]), ...connectionFindings, ...backupChecks].some(
    (check) => check.id === id,
  );
  if (known) return;
  throw new Rejection('invalid_parameter', 'There is no such check for this database.', {
    parameter: 'check_id',
  });
}

function shown({ created_at, until, ...silence }: SilenceRow): Silence {
  return { ...silence, created_at: created_at.toISOString(), until: until?.toISOString() ?? null };
}
