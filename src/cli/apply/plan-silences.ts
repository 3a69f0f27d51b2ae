import type pg from 'pg';
import type { DatabaseAddress } from '../../connections/connection-url.ts';
import { addSilence, type WantedSilence } from '../../tickets/silences/add-silence.ts';
import { endSilence } from '../../tickets/silences/end-silence.ts';
import { silencesInForce } from '../../tickets/silences/list-silences.ts';
import type { SilenceRow } from '../../tickets/silences/silence-row.ts';
import { instantOf, untilOf } from '../../tickets/silences/until.ts';
import { isForeignCheck, traitsOf } from '../../vocabulary/engines.ts';
import { textOf } from '../arguments.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import { UsageError } from '../usage-error.ts';
import type { Steps } from './apply-step.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenSilence } from './configuration-schema.ts';
import { type Kind, reconcile } from './reconcile.ts';
import type { Path } from './schema-problems.ts';

/** The desired state of a silence. */
export interface SilenceInFile extends WantedSilence {
  /** Whether its end has passed, so that it must not be active. */
  over: boolean;
}

/** Parses the silences of a connection, and notes their problems. */
export function silencesIn(
  file: ReadFile,
  path: Path,
  written: readonly WrittenSilence[],
  engine: DatabaseAddress['engine'],
): SilenceInFile[] {
  noteRepeated(file, path, written, 'check', ({ check, object = '' }) => `${check} ${object.trim()}`);
  return written.map(({ check, object, reason, note, until }, at) => {
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, at, of], parse);
    if (isForeignCheck(engine, check))
      file.problem([...path, at, 'check'], `This is not a check for ${traitsOf(engine).name}: leave it out.`);
    return {
      check_id: check,
      object: object === undefined ? null : (field('object', () => textOf('The object')(object)) ?? null),
      reason,
      note: field('note', () => textOf('The note')(note)) ?? '',
      ...(field('until', () => parseEnd(until)) ?? { until: null, over: false }),
    };
  });
}

// A file is applied repeatedly. So a past end is not a problem, and a duration is not allowed: it would start again
// each time.
function parseEnd(text: string | undefined): { until: Date | null; over: boolean } {
  if (text === undefined) return { until: null, over: false };
  const [now, until] = [new Date(), instantOf(text)];
  if (!until)
    throw new UsageError(
      'The end must be a date such as 2030-01-31, or a date-time such as 2030-01-31T18:00:00Z.',
    );
  return until <= now ? { until, over: true } : { until: untilOf('The end', now)(text), over: false };
}

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
  return reconcile(silenceKind(connection), connection.account.name, wanted, stored);
}

// A silence is never changed: if it differs, it is ended and added again.
function silenceKind(connection: Silenced): Kind<SilenceInFile, SilenceRow> {
  return {
    what: 'silence',
    key: ({ check_id, object }) => `${check_id} ${object ?? ''}`,
    name: (silence) => nameOf(connection, silence),
    describe: ({ over, reason, note, until }) => (over ? null : { reason, note, until }),
    describeStored: (row) => row,
    add: (change, { over: _, ...silence }) =>
      addSilence((work) => work(change), connection.id ?? 0, silence, COMMAND_LINE),
    remove: (change, { id }) => endSilence((work) => work(change), id, COMMAND_LINE),
  };
}

function nameOf({ name }: Silenced, { check_id, object }: Pick<SilenceRow, 'check_id' | 'object'>): string {
  return [name, check_id, ...(object === null ? [] : [object])].join(' / ');
}
