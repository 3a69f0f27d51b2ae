import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ConnectionChanges } from '../../../src/console-api/changes/change-schemas.ts';
import type {
  ConnectionHistory,
  ConnectionMeasures,
} from '../../../src/console-api/measures/measure-schemas.ts';
import { read } from '../api.ts';
import { type Span, searchOf } from '../parts/chart/chart-range.ts';

const RENEWED_EVERY_MS = 60_000;
/** The answers of past minutes are of no more use. */
const KEPT_MS = 60_000;
/** Changes marked in the charts. */
const MARKED = 200;

function pathOf(id: string): string {
  return `/connections/${encodeURIComponent(id)}`;
}

/** The latest values of a connection, with thresholds and forecasts. */
export function measuresQuery(id: string) {
  return queryOptions({
    ...read<ConnectionMeasures>(`${pathOf(id)}/measures`),
    refetchInterval: RENEWED_EVERY_MS,
  });
}

/** The history of at most 12 series. An answer is never equal to the one before, so the two are not compared. */
export function historyQuery(id: string, series: readonly number[], span: Span) {
  return queryOptions({
    ...read<ConnectionHistory>(`${pathOf(id)}/history`, {
      series: series.join(','),
      ...searchOf(span),
    }),
    placeholderData: keepPreviousData,
    structuralSharing: false,
    staleTime: RENEWED_EVERY_MS,
    gcTime: KEPT_MS,
  });
}

/** The latest changes in a span, for its charts. */
export function markedChangesQuery(id: string, span: Span) {
  return queryOptions({
    ...read<ConnectionChanges>(`${pathOf(id)}/changes`, {
      ...searchOf(span),
      limit: MARKED,
    }),
    placeholderData: keepPreviousData,
    staleTime: RENEWED_EVERY_MS,
    gcTime: KEPT_MS,
  });
}
