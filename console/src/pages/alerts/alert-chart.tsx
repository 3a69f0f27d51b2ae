import { useState } from 'react';
import type { AlertDetail } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { type RangeSearch, searchOf } from '../../parts/chart/chart-range.ts';

const HOUR = 3_600;

/** From a day before the alert until an hour after it was resolved, or until now. */
function spanOfAlert({ since, resolved_at }: AlertDetail): RangeSearch {
  const from = Date.parse(since) / 1_000 - 24 * HOUR;
  if (resolved_at === null) return { from: new Date(from * 1_000).toISOString() };
  return searchOf({ from, to: Date.parse(resolved_at) / 1_000 + HOUR });
}

/** The history of the value that an alert compares; nothing for an alert that compares no measured value. */
export function AlertChart({ alert }: { alert: AlertDetail }) {
  const [search, setSearch] = useState(() => spanOfAlert(alert));
  const { kind, check_id, metric, value, operator, threshold, database, object } = alert;
  if (alert.connection_removed || kind !== 'measure' || check_id === null) return null;
  const measured = { metric, value, operator: operator.startsWith('<') ? '<=' : '>=', threshold } as const;
  return (
    <ChartGroup onSearch={setSearch} search={search}>
      <FindingChart
        connectionId={String(alert.connection_id)}
        finding={{ check_id, measured, database, object }}
      />
    </ChartGroup>
  );
}
