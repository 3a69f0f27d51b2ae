import type {
  CheckThresholds,
  Threshold,
  ThresholdChange,
  ThresholdPreview,
} from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { metricWords } from '../../../src/platform/text/metric-words.ts';
import { counted } from '../parts/figure.ts';
import { thresholdWords } from '../parts/threshold-value.ts';

const grouped = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 9 });

const COMPARED = { '>=': 'at or above', '<=': 'at or below', '>': 'above', '<': 'below' } as const;

/** What a threshold means: `Warning when dead rows is at or above this value.`; nothing for what is no level. */
export function meaningOf({ level }: Pick<Threshold, 'level'>): string {
  if (!level) return '';
  const severity = `${level.severity.charAt(0).toUpperCase()}${level.severity.slice(1)}`;
  return `${severity} when ${metricWords(level.metric).toLowerCase()} is ${COMPARED[level.comparison]} this value. `;
}

/** Whether a search matches a check. */
export function isFound(
  { check_id, title }: Pick<CheckThresholds, 'check_id' | 'title'>,
  q: string,
): boolean {
  const part = q.toLowerCase();
  return check_id.toLowerCase().includes(part) || title.toLowerCase().includes(part);
}

const countedOrNo = (count: number, noun: string) => (count === 0 ? `no ${noun}s` : counted(count, noun));

/** A preview in sentences: what would have changed, then what can't be known. */
export function previewSentences(preview: ThresholdPreview): string[] {
  const { connections, unchanged, looked_at, not_measured, unknown, may_have_more } = preview;
  if (connections === 0) {
    return [
      unchanged === 0
        ? 'No connection is affected.'
        : `Nothing changes for ${counted(unchanged, 'connection')}: the values are the same, or a more specific threshold holds.`,
    ];
  }
  const { appear, vanish, graver, milder } = preview;
  const parts = [
    ...(appear > 0 ? [`${counted(appear, 'finding')} would have appeared`] : []),
    ...(vanish > 0 ? [`${counted(vanish, 'finding')} would have vanished`] : []),
    ...(graver > 0 ? [`${grouped(graver)} would have been more severe`] : []),
    ...(milder > 0 ? [`${grouped(milder)} would have been less severe`] : []),
  ];
  const changes = parts.length === 0 ? 'no finding would have changed' : parts.join(', ');
  return [
    `In the last runs of ${countedOrNo(looked_at, 'connection')}, ${changes}.`,
    ...(looked_at < connections
      ? [`Of ${grouped(connections)} connections, only the first ${grouped(looked_at)} were checked.`]
      : []),
    ...(unchanged > 0
      ? [
          `Nothing changes for ${counted(unchanged, 'other connection')}: a more specific threshold holds there, or the same.`,
        ]
      : []),
    ...(not_measured > 0
      ? [`Not known for ${counted(not_measured, 'connection')}: the last run did not measure this check.`]
      : []),
    ...(unknown.length > 0
      ? [
          `A run keeps no value to compare with ${unknown.map((name) => `“${thresholdWords(name.split('.')[1] ?? name)}”`).join(', ')}: the next run shows its effect.`,
        ]
      : []),
    ...(may_have_more.length > 0 ? ['More findings may appear: a run keeps only the worst values.'] : []),
  ];
}

/** The connections of a change, in words. */
export function scopeWords({ tag, connections }: Pick<ThresholdChange, 'tag' | 'connections'>): string {
  if (connections) return countedOrNo(connections.length, 'connection');
  return tag === undefined ? 'all connections' : `connections with the tag ${tag}`;
}
