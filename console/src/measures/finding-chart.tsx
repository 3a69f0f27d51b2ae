import './measures.css';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ExplainedFinding } from '../../../src/console-api/connections/findings.ts';
import { RangeSwitch } from '../parts/chart/range-switch.tsx';
import { MeasureChart } from './measure-chart.tsx';
import { chartTitle } from './measure-groups.ts';
import { measuresQuery } from './measures-query.ts';

interface FindingChartProps {
  connectionId: string;
  finding: Pick<ExplainedFinding, 'check_id' | 'measured' | 'database' | 'object'>;
}

/** The history of the value that a finding comes from; nothing if it comes from none, or has no history. */
export function FindingChart({ connectionId, finding }: FindingChartProps) {
  const { check_id, measured, database, object } = finding;
  const { data } = useQuery({ ...measuresQuery(connectionId), enabled: measured !== null });
  const measure = data?.measures.find(
    (one) =>
      one.check_id === check_id &&
      one.metric === measured?.metric &&
      one.database === database &&
      one.object === object,
  );
  const chart = useMemo(
    () =>
      measure && {
        key: '',
        title: chartTitle(measure),
        unit: measure.unit,
        measures: [measure],
      },
    [measure],
  );
  if (chart) {
    return (
      <div className="finding-chart">
        <h3>Over time</h3>
        <RangeSwitch />
        <MeasureChart chart={chart} connectionId={connectionId} />
      </div>
    );
  }
  if (measured === null || !data || data.dropped === 0) return null;
  return (
    <p className="quiet small">This value has no history. A connection keeps the history of 300 series.</p>
  );
}
