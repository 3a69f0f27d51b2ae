import { useState } from 'react';
import type { AlertDetail } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { rangeAround } from '../../parts/chart/chart-range.ts';

/** The history of the value that an alert compares; nothing for an alert that compares no measured value. */
export function AlertChart({ alert }: { alert: AlertDetail }) {
  const [search, setSearch] = useState(() => rangeAround(alert.since, alert.resolved_at));
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
