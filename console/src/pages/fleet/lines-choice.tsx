import type { FleetMetrics } from '../../../../src/console-api/measures/measure-schemas.ts';
import { FLEET_RANGES, type FleetRange } from '../../../../src/vocabulary/fleet-ranges.ts';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { Select } from '../../parts/field.tsx';
import { FilterChips } from '../../parts/filter-chips.tsx';
import type { FleetSearch } from './fleet-search.ts';

const RANGE_TEXTS: Record<FleetRange, string> = {
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '13mo': '13 months',
};

interface LinesChoiceProps {
  metrics: FleetMetrics['metrics'];
  search: FleetSearch;
  /** Of the chosen vital sign; null for scores. */
  unit: Unit | null;
  onChange: (changed: Pick<FleetSearch, 'metric' | 'range'>) => void;
  onLook: (look: FleetSearch['show']) => void;
}

/** Chooses what the line of each connection shows: its score, or a vital sign over a range. */
export function LinesChoice({
  metrics,
  search: { metric, range = '24h', show },
  unit,
  onChange,
  onLook,
}: LinesChoiceProps) {
  return (
    <div className="lines-choice">
      <Select
        choices={[
          { id: '', label: 'Score, 30 days' },
          ...metrics.map(({ metric: id, title }) => ({ id, label: title })),
        ]}
        label="Lines show"
        onChange={(id) => onChange(id === '' ? {} : { metric: id, range })}
        value={metric ?? ''}
      />
      {metric !== undefined && (
        <Select
          choices={FLEET_RANGES.map((id) => ({ id, label: RANGE_TEXTS[id] }))}
          hideLabel
          label="Range of the lines"
          onChange={(id) => onChange({ metric, range: FLEET_RANGES.find((word) => word === id) ?? '24h' })}
          value={range}
        />
      )}
      <FilterChips
        chips={[{ id: 'charts', label: 'Charts' }]}
        label="Layout"
        onChange={(id) => onLook(id === 'charts' ? id : undefined)}
        value={show ?? null}
      />
      {unit !== null && (
        <p className="quiet small">
          Each line has its own scale from 0{unit === 'ratio' ? ' to 100 %' : ' to its highest value'}. Of
          several databases, tables or replicas, it shows the one with the highest value now.
        </p>
      )}
    </div>
  );
}
