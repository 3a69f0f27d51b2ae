import type { DatabaseAddress } from '../../connections/connection-url.ts';
import type { WantedSilence } from '../../silences/add-silence.ts';
import { instantOf, untilOf } from '../../silences/until.ts';
import { textOf } from '../arguments.ts';
import { UsageError } from '../command.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenSilence } from './configuration-schema.ts';
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
  const [other, name] = engine === 'postgres' ? ['MY_', 'PostgreSQL'] : ['PG_', 'MySQL or MariaDB'];
  return written.map(({ check, object, reason, note, until }, at) => {
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, at, of], parse);
    if (check.startsWith(other))
      file.problem([...path, at, 'check'], `This is not a check for ${name}: leave it out.`);
    return {
      check_id: check,
      object: object === undefined ? null : (field('object', () => textOf('The object')(object)) ?? null),
      reason,
      note: field('note', () => textOf('The note')(note)) ?? '',
      ...(field('until', () => endOf(until)) ?? { until: null, over: false }),
    };
  });
}

// A file is applied repeatedly. So a past end is not a problem, and a duration is not allowed: it would start again
// each time.
function endOf(text: string | undefined): { until: Date | null; over: boolean } {
  if (text === undefined) return { until: null, over: false };
  const [now, until] = [new Date(), instantOf(text)];
  if (!until)
    throw new UsageError(
      'The end must be a date such as 2030-01-31, or a date-time such as 2030-01-31T18:00:00Z.',
    );
  return until <= now ? { until, over: true } : { until: untilOf('The end', now)(text), over: false };
}
