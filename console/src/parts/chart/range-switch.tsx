import { useState } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import { ToggleButtonGroup } from 'react-aria-components/ToggleButtonGroup';
import '../filter-chips.css';
import { Button } from '../button.tsx';
import { DayRange } from '../day-range.tsx';
import { local } from '../time.tsx';
import { useChartGroup, useZoom } from './chart-group.tsx';
import { presetOf, RANGES, type RangeId } from './chart-range.ts';

/** Chooses the range of the group's charts: a preset, or days. Shows a zoom and ends it. */
export function RangeSwitch({ hasCharts = true }: { hasCharts?: boolean }) {
  const { search, span, change, tables } = useChartGroup();
  const zoom = useZoom();
  const [isOpen, setOpen] = useState(false);
  const isCustom = search.from !== undefined || search.to !== undefined;
  const preset = presetOf(search).id;
  return (
    <div className="range-switch">
      <ToggleButtonGroup
        aria-label="Range of the charts"
        className="filter-chips"
        disallowEmptySelection
        onSelectionChange={(keys) => {
          const [id] = keys;
          setOpen(id === 'custom');
          if (id !== undefined && id !== 'custom') change({ range: id as RangeId });
        }}
        selectedKeys={[isOpen || isCustom ? 'custom' : preset]}
        selectionMode="single"
      >
        {RANGES.map(({ id, label, words }) => (
          <ToggleButton aria-label={`${label}: ${words}`} className="filter-chip" id={id} key={id}>
            {label}
          </ToggleButton>
        ))}
        <ToggleButton className="filter-chip" id="custom">
          Custom
        </ToggleButton>
      </ToggleButtonGroup>
      {tables && hasCharts && (
        <Button aria-pressed={tables.areShown} onPress={tables.toggle} small>
          {tables.areShown ? 'Hide tables' : 'Show as table'}
        </Button>
      )}
      {(isOpen || isCustom) && (
        <DayRange
          from={search.from}
          label="From"
          onChange={({ from, to }) => change({ range: preset, ...(from && { from }), ...(to && { to }) })}
          to={search.to}
        />
      )}
      {isCustom && (
        <span className="range-zoom">
          <span className="quiet small">
            {local(new Date(span.from * 1_000))} to {local(new Date(span.to * 1_000))}
          </span>
          <Button
            onPress={() => {
              setOpen(false);
              zoom(null);
            }}
            small
          >
            Reset to {RANGES.find(({ id }) => id === preset)?.words}
          </Button>
        </span>
      )}
    </div>
  );
}
