import { expect, test } from 'vitest';
import type { ThresholdPreview } from '../../../src/console-api/thresholds/threshold-schemas.ts';
import { meaningOf, previewSentences } from './threshold-text.ts';

test('what a threshold means', () => {
  const level = { severity: 'warning', metric: 'cache_hit_ratio', comparison: '<=' } as const;
  expect(meaningOf({ level })).toBe('Warning when cache hit is at or below this value. ');
  expect(meaningOf({ level: null })).toBe('');
});

test('a preview says what would have changed, and what nobody can know', () => {
  const nothing: ThresholdPreview = {
    connections: 0,
    unchanged: 0,
    looked_at: 0,
    not_measured: 0,
    appear: 0,
    vanish: 0,
    graver: 0,
    milder: 0,
    findings: [],
    unknown: [],
    may_have_more: [],
  };
  expect(previewSentences(nothing)).toEqual(['No connection is affected.']);
  expect(previewSentences({ ...nothing, unchanged: 2 })[0]).toMatch(/^Nothing changes for 2 connections/);
  expect(
    previewSentences({
      ...nothing,
      connections: 1_200,
      looked_at: 1_000,
      unchanged: 1,
      not_measured: 3,
      appear: 1,
      milder: 2,
      unknown: ['PG_X.minimum_rows'],
      may_have_more: ['PG_X'],
    }),
  ).toEqual([
    'In the last runs of 1,000 connections, 1 finding would have appeared, 2 would have been less severe.',
    'Of 1,200 connections, only the first 1,000 were checked.',
    'Nothing changes for 1 other connection: a more specific threshold holds there, or the same.',
    'Not known for 3 connections: the last run did not measure this check.',
    'A run keeps no value to compare with “Minimum rows”: the next run shows its effect.',
    'More findings may appear: a run keeps only the worst values.',
  ]);
});
