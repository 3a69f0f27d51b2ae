import type {
  NewOwnCheckBody,
  OwnCheckBody,
  ShownOwnCheck,
  TryOwnCheckBody,
} from '../../../../src/console-api/own-checks/own-check-schemas.ts';
import { tagsIn } from '../../parts/tags.tsx';
import { thresholdFromField, thresholdToField } from '../../parts/threshold-value.ts';
import { EACH_RUN } from './reading-times.ts';

type Unit = ShownOwnCheck['unit'];

/** The draft of a new check. */
export function newDraft() {
  return {
    id: '',
    /** The id follows the title until somebody enters one. */
    hasOwnId: false,
    title: '',
    engine: 'postgres' as ShownOwnCheck['engine'],
    database: '',
    sql: '',
    unit: 'count' as Unit,
    operator: '>=' as ShownOwnCheck['operator'],
    /** As people say it: a ratio in per cent, bytes in MB. */
    warning: '',
    critical: '',
    remediation: '',
    /** Seconds, or {@link EACH_RUN}. */
    every: EACH_RUN as string,
    timeout: '5',
    /** Separated by spaces, commas or lines. */
    tags: '',
    /** Where it is tried; null if nowhere yet. */
    connection: null as number | null,
  };
}

/** What a person enters for an own check. */
export type OwnCheckDraft = ReturnType<typeof newDraft>;

/** The draft of an existing one. */
export function toDraft(own: ShownOwnCheck): OwnCheckDraft {
  const { id, title, engine, database, sql, unit, operator, warning, critical, remediation } = own;
  return {
    id,
    hasOwnId: true,
    title,
    engine,
    database: database ?? '',
    sql,
    unit,
    operator,
    warning: levelText(warning, unit),
    critical: levelText(critical, unit),
    remediation,
    every: own.every === null ? EACH_RUN : String(own.every),
    timeout: String(own.timeout),
    tags: own.tags.join(', '),
    connection: null,
  };
}

/** `ORDERS_WAIT` for `Orders wait!` */
export function toCheckId(title: string): string {
  const words = title.normalize('NFD').toUpperCase();
  return words
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?:OWN_|[0-9_])+/, '')
    .slice(0, 40)
    .replace(/_$/, '');
}

/** A level in a field; null when empty, undefined when it is no number. */
export function levelIn(text: string, unit: Unit): number | null | undefined {
  const [, minus = '', rest = ''] = /^\s*(-?)(.*)$/s.exec(text) ?? [];
  const level = thresholdFromField(rest, unit);
  return level && minus ? -level : level;
}

function levelText(level: number | null, unit: Unit): string {
  return level === null ? '' : thresholdToField(level, unit);
}

/** Whether both levels are numbers, and one is set. */
export function hasLevels({ warning, critical, unit }: OwnCheckDraft): boolean {
  const levels = [levelIn(warning, unit), levelIn(critical, unit)];
  return !levels.includes(undefined) && levels.some((level) => level !== null);
}

/** What a statement's numbers mean, without the levels that are no numbers. */
function judgedBy({ sql, database, unit, operator, warning, critical, timeout }: OwnCheckDraft) {
  return {
    sql,
    database: database.trim() || null,
    unit,
    operator,
    warning: levelIn(warning, unit) ?? null,
    critical: levelIn(critical, unit) ?? null,
    timeout: Number(timeout),
  };
}

/** The body of POST /own-checks. */
export function toNewCheck(draft: OwnCheckDraft): NewOwnCheckBody {
  const { id, title, engine, remediation, every, tags } = draft;
  return {
    id: id.trim(),
    title,
    engine,
    ...judgedBy(draft),
    remediation,
    every: every === EACH_RUN ? null : Number(every),
    tags: tagsIn(tags),
  };
}

/** The body of PATCH /own-checks/:check, for the check as it was opened. */
export function toChangedCheck(draft: OwnCheckDraft, { changed_at }: ShownOwnCheck): OwnCheckBody {
  const { id: _, ...definition } = toNewCheck(draft);
  return { ...definition, seen: changed_at };
}

/** The body of POST /own-checks/try. */
export function toTrial(draft: OwnCheckDraft, connection: number): TryOwnCheckBody {
  return { connection_id: connection, ...judgedBy(draft) };
}
