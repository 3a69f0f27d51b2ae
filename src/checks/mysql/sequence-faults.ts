import type { Judged, Judgement, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { countOf, crosses, faultMeasure, type Scale, worstOf } from '../worst-measures.ts';
import { showTable } from './alter-table.ts';
import { printable, quoted } from './quote.ts';
import {
  isFalling,
  isUnsigned,
  lastValue,
  quotedSequence,
  type Sequence,
  type Sequences,
  sequencesIn,
  typeBits,
  typeRange,
  usedShare,
} from './sequences.ts';

/** The most GRANTs that a finding prints: no privilege is for several sequences alone. */
const GRANTS = 20;

/** From this share of a sequence's values on, its cache is named. */
const LARGE_CACHE = 0.01;

interface Context extends Pick<ServerFacts, 'me'> {
  /** What the share of used values is compared with. */
  scale: Scale;
  /** The metric of how many objects have the fault. */
  countMetric: string;
}

/** Adds the sequences of MariaDB to what was found out about the AUTO_INCREMENTs of its tables. */
export function addSequences(ofTables: Judgement, rows: readonly Row[], context: Context): Judgement {
  const sequences = sequencesIn(rows);
  const measures = sequences.read.map(
    (sequence): Measure => ({
      ...context.scale,
      object: quotedSequence(sequence),
      value: usedShare(sequence),
    }),
  );
  const faults = sequences.read.flatMap((sequence, place) => sequenceFault(sequence, measures[place]) ?? []);
  const grant = grantSequences(sequences, context.me);
  if (!('skipped' in ofTables)) {
    const merged = mergeJudged(ofTables, { faults, measures }, context.countMetric);
    if (sequences.read.length > 0)
      merged.passMessage = 'No AUTO_INCREMENT and no sequence is nearly exhausted.';
    if (merged.faults.length === 0 && sequences.hidden.length > 0)
      return { skipped: 'Not measured: the values of some sequences are hidden.', grant };
    const isCut = sequences.hidden.length > 0 || sequences.areMany;
    return {
      ...merged,
      truncated: merged.truncated === true || isCut,
      ...(sequences.areMany && { skippedForSize: true }),
      ...(grant !== '' && { grant: [ofTables.grant ?? [], grant].flat().join(' ') }),
    };
  }
  if (faults.length === 0) return ofTables;
  const seen = { faults: [], passMessage: '', measures: [], truncated: true };
  const { grant: ofHidden } = ofTables;
  return {
    ...mergeJudged(seen, { faults, measures }, context.countMetric),
    ...(ofHidden !== undefined && { grant: ofHidden }),
  };
}

function mergeJudged(
  ofTables: Judged,
  { faults, measures }: Pick<Judged, 'faults' | 'measures'>,
  countMetric: string,
): Judged {
  const all = [...ofTables.faults, ...faults].sort(
    (one, other) => (other.measured?.value ?? 0) - (one.measured?.value ?? 0),
  );
  const isCount = ({ metric }: Measure) => metric === countMetric;
  return {
    ...ofTables,
    faults: all.slice(0, FAULT_LIMIT),
    truncated: ofTables.truncated === true || all.length > FAULT_LIMIT,
    measures: [
      ...ofTables.measures.filter(isCount).map(({ value }) => countOf(countMetric, value + faults.length)),
      ...worstOf([...ofTables.measures.filter((measure) => !isCount(measure)), ...measures]),
    ],
  };
}

/** The statements that let the login read the sequences; '' if it can read all. */
function grantSequences({ hidden }: Sequences, me: string | undefined): string {
  const grants = hidden
    .slice(0, GRANTS)
    .map((sequence) => printable(`GRANT SELECT ON ${quotedSequence(sequence)} TO ${me};`));
  const others = hidden.length - grants.length;
  return `${grants.join(' ')}${others > 0 ? ` -- and the same for ${grouped(others)} more sequences` : ''}`;
}

function sequenceFault(sequence: Sequence, measure: Measure | undefined): Fault | undefined {
  if (!measure || !crosses(measure, measure.warning)) return undefined;
  const name = quotedSequence(sequence);
  const { advice, remediation } = sequence.column ? widenColumn(sequence.column) : adviceOn(sequence);
  return {
    severity: crosses(measure, measure.critical) ? 'critical' : 'warning',
    object: name,
    metricLine: `sequence ${name} is at ${sequence.next} of ${lastValue(sequence)} (${percent(measure.value)})${cacheNote(sequence)}; ${advice} before inserts fail.`,
    remediation,
    measured: faultMeasure(measure),
  };
}

/** A sequence writes down only the end of its cache, so how much of that is used is not known. */
function cacheNote({ cache, increment, highest, lowest }: Sequence): string {
  const step = increment < 0n ? -increment : increment === 0n ? 1n : increment;
  const share = Number(cache * step) / Number(highest - lowest + 1n);
  if (cache < 2n || share < LARGE_CACHE) return '';
  return `, with its cache of ${cache}, whose rest a restart of the server discards`;
}

/** What to do about a sequence: its own limit may go, its type may be widened, or neither helps. */
function adviceOn(sequence: Sequence): { advice: string; remediation: string } {
  const name = quotedSequence(sequence);
  const look = printable(`SELECT * FROM ${name};`);
  const alter = (change: string) => printable(`ALTER SEQUENCE ${name} ${change};`);
  const { type } = sequence;
  const freed = (of: string) =>
    // NO MINVALUE gives one that counts down the limit of one that counts up, which MariaDB then refuses (seen with 10.11 and 11.8).
    alter(isFalling(sequence) ? `MINVALUE ${sequenceLimits(of).least}` : 'NO MAXVALUE');
  if (hasOwnLimit(sequence))
    return {
      advice: isFalling(sequence) ? 'lower its MINVALUE' : 'raise its MAXVALUE',
      remediation: `${look} -- then find out why the sequence was given a limit of its own; if nothing needs it, run ${freed(type)}`,
    };
  if (typeBits(type) < 64n) {
    const wider = isUnsigned(type) ? 'bigint unsigned' : 'bigint';
    return {
      advice: 'make it a bigint',
      // MariaDB changes the type only in a statement of its own.
      remediation: `${look} -- then see that the columns which it fills are bigint too, and run ${alter(`AS ${wider}`)} ${freed(wider)}`,
    };
  }
  return {
    advice: 'find out why its values jumped, as no type has many more,',
    remediation: `${look} -- then find out why the values jumped, and let it start again, with ALTER SEQUENCE … RESTART, where no row has its values`,
  };
}

/** What to do about a column that is narrower than its sequence. */
function widenColumn({ schema, table, name, type }: NonNullable<Sequence['column']>) {
  const column = `column ${quoted(name)} of table ${quoted(schema, table)} (${type})`;
  return {
    advice: `its ${column} has no more, so widen that`,
    remediation: `${showTable({ schema, name: table })} -- then make the column bigint with MODIFY, and repeat the rest of its definition`,
  };
}

/** Whether a sequence ends before its type does. */
function hasOwnLimit(sequence: Sequence): boolean {
  const { least, most } = sequenceLimits(sequence.type);
  return isFalling(sequence) ? sequence.lowest > least : sequence.highest < most;
}

/** The limits of a sequence that is given none: each type keeps its first and last value for itself. */
function sequenceLimits(type: string): { least: bigint; most: bigint } {
  const { least, most } = typeRange(type);
  return { least: least + 1n, most: most - 1n };
}
