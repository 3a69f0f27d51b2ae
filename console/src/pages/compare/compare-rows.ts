import type { ConnectionFacts } from '../../../../src/console-api/changes/fact-routes.ts';
import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';
import type { ConnectionMeasures } from '../../../../src/console-api/measures/measure-schemas.ts';
import { ENGINE_NAMES, familyOf } from '../../../../src/vocabulary/engines.ts';
import { valueText } from '../../parts/chart/value-text.ts';
import { readableLine } from '../../parts/readable-text.ts';

/** What is known of a connection. */
export interface Compared {
  detail: Pick<ConnectionDetail, 'settings' | 'score' | 'open_tickets' | 'latest'>;
  facts: ConnectionFacts['data'];
  measures: ConnectionMeasures['measures'];
}

const SECTIONS = ['Connection', 'Server', 'Findings', 'Measurements', 'Extensions', 'Settings'] as const;

type Section = (typeof SECTIONS)[number];

/** A thing that two connections have, with its text of each; null = it has none. */
export interface ComparedRow {
  id: string;
  section: Section;
  name: string;
  values: readonly [string | null, string | null];
  differs: boolean;
}

type Entry = readonly [name: string, value: string];

/** Whether two connections have different kinds of settings, checks and measurements. MySQL and MariaDB have the same kinds. */
export function areForeign([a, b]: readonly [Compared, Compared]): boolean {
  return familyOf(a.detail.settings.engine) !== familyOf(b.detail.settings.engine);
}

/**
 * The rows of all sections, each with what either connection has, sorted by name where the order means nothing. Of different engines,
 * only what both have.
 */
export function comparedRows(of: readonly [Compared, Compared]): ComparedRow[] {
  const isForeign = areForeign(of);
  return SECTIONS.flatMap((section) => {
    const [a, b] = of.map((each) => new Map(ENTRIES[section](each))) as [
      Map<string, string>,
      Map<string, string>,
    ];
    const names = [...new Set([...a.keys(), ...b.keys()])];
    if (section !== 'Connection') names.sort((one, other) => (one < other ? -1 : 1));
    return names.flatMap((name) => {
      const values = [a.get(name) ?? null, b.get(name) ?? null] as const;
      if (isForeign && values.includes(null)) return [];
      return [{ id: `${section} ${name}`, section, name, values, differs: isDifferent(values) }];
    });
  });
}

/** A hidden value is hashed with a key of its connection, so two of them can't be compared: they count as equal. */
export function isHidden(value: string | null): boolean {
  return value !== null && /^hidden \([0-9a-f]{8}\)$/.test(value);
}

function isDifferent([a, b]: ComparedRow['values']): boolean {
  return a !== b && !(isHidden(a) && isHidden(b));
}

const ENTRIES: Readonly<Record<Section, (of: Compared) => Entry[]>> = {
  Connection: ({ detail: { settings, score, open_tickets } }) => [
    ['Engine', ENGINE_NAMES[settings.engine]],
    ['Score', score === null ? 'not checked' : String(score)],
    ['Open tickets', String(open_tickets)],
    ['Tags', settings.tags.join(' ') || 'none'],
  ],
  Server: ({ facts }) => entriesOf(facts, 'version'),
  Findings: ({ detail: { latest } }) =>
    (latest?.findings ?? [])
      .filter(({ status }) => status === 'critical' || status === 'warning' || status === 'info')
      .map(({ check_id, title, database, object, status, metric_line }) => [
        [title, object, database && `in ${database}`, `(${check_id})`].filter(Boolean).join(' '),
        `${status}: ${readableLine(metric_line)}`,
      ]),
  Measurements: ({ measures }) =>
    measures
      .filter(({ check_id }) => check_id === '')
      .map(({ title, database, object, unit, value }) => [
        [title, database, object].filter(Boolean).join(' · '),
        valueText(value, unit),
      ]),
  Extensions: ({ facts }) => entriesOf(facts, 'extension'),
  Settings: ({ facts }) => entriesOf(facts, 'setting'),
};

function entriesOf(facts: Compared['facts'], kind: Compared['facts'][number]['kind']): Entry[] {
  return facts
    .filter((fact) => fact.kind === kind)
    .map(({ subject, database, value }) => [database === '' ? subject : `${subject} in ${database}`, value]);
}
