import type pg from 'pg';
import type { ChangeAccount } from '../../activity/record-entry.ts';
import { addSilence } from '../../silences/add-silence.ts';
import { endSilence } from '../../silences/end-silence.ts';
import { silencesInForce } from '../../silences/list-silences.ts';
import type { SilenceRow } from '../../silences/silence-row.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import type { SilenceInFile } from './parse-silences.ts';

/** The connection of silences. A new connection has its id after it is added. */
export interface Silenced {
  account: { id: number | null; name: string };
  id: number | null;
  name: string;
}

/** The steps that bring a connection's silences to the desired state. */
export async function planSilences(
  client: pg.ClientBase,
  connection: Silenced,
  wanted: readonly SilenceInFile[],
): Promise<Steps> {
  const values = [connection.account.id, connection.id];
  const stored = connection.id === null ? [] : (await client.query<SilenceRow>(silencesInForce, values)).rows;
  const known = Map.groupBy(stored, keyOf);
  const steps = wanted.flatMap(
    (silence) => stepFor(connection, known.get(keyOf(silence)) ?? [], silence) ?? [],
  );
  const named = new Set(wanted.map(keyOf));
  const unnamed = [...known].flatMap(([key, silences]) =>
    named.has(key) ? [] : [removal(connection, silences)],
  );
  return { wanted: steps, unnamed };
}

const keyOf = ({ check_id, object }: Pick<SilenceRow, 'check_id' | 'object'>) =>
  `${check_id} ${object ?? ''}`;

// A silence is never changed: if it differs, it is ended and added again.
function stepFor(connection: Silenced, before: SilenceRow[], wanted: SilenceInFile): Step | null {
  const { over, ...silence } = wanted;
  if (over) return before.length === 0 ? null : removal(connection, before);
  const after = { reason: silence.reason, note: silence.note, until: silence.until };
  const [first] = before;
  const { changed, from, to } = changesOf({ ...first }, after);
  if (first && before.length === 1 && changed.length === 0) return null;
  return {
    difference: {
      ...{ action: first ? 'change' : 'add', what: 'silence', account: connection.account.name },
      ...{ name: nameOf(connection, silence), changed, from, to },
    },
    make: async (change) => {
      const within: ChangeAccount = (work) => work(change);
      for (const { id } of before) await endSilence(within, id, COMMAND_LINE);
      await addSilence(within, connection.id ?? 0, silence, COMMAND_LINE);
    },
  };
}

function removal(connection: Silenced, silences: SilenceRow[]): Step {
  const name = silences[0] ? nameOf(connection, silences[0]) : '';
  const of = { what: 'silence', account: connection.account.name, name } as const;
  return {
    difference: { action: 'remove', ...of, changed: [], from: {}, to: {} },
    make: async (change) => {
      for (const { id } of silences) await endSilence((work) => work(change), id, COMMAND_LINE);
    },
  };
}

function nameOf({ name }: Silenced, { check_id, object }: Pick<SilenceRow, 'check_id' | 'object'>): string {
  return [name, check_id, ...(object === null ? [] : [object])].join(' / ');
}
