import { createContext, type ReactNode, useContext, useState } from 'react';
import { useNow } from '../time.tsx';
import { movesEvery, type RangeSearch, type Span, searchOf, spanOf } from './chart-range.ts';
import { Crosshair } from './crosshair.ts';

/** What the charts of a group have in common. */
interface Group {
  crosshair: Crosshair;
  search: RangeSearch;
  span: Span;
  /** The end of what can be shown, in Unix seconds. */
  now: number;
  change: (search: RangeSearch) => void;
  /** Whether the tables of all charts are shown, which the range switch decides; null if each chart has a table of its own. */
  tables: { areShown: boolean; toggle: () => void } | null;
}

const Shared = createContext<Group | null>(null);

interface ChartGroupProps {
  /** The range in the page's URL. */
  search: RangeSearch;
  /** Writes the range to the URL; what it lacks is removed there. */
  onSearch: (search: RangeSearch) => void;
  /** Since when there can be values, in RFC 3339. */
  since?: string | undefined;
  /** Its range switch shows the tables of all charts. */
  hasOneTable?: boolean;
  children: ReactNode;
}

/** Gives the charts and the range switch in it one range, one zoom and one crosshair. */
export function ChartGroup({ search, onSearch, since, hasOneTable = false, children }: ChartGroupProps) {
  const [crosshair] = useState(() => new Crosshair());
  const [areShown, setShown] = useState(false);
  const step = movesEvery(search);
  // The end is up to a step ahead, so that the latest values are in the range.
  const now = (useNow(step) + step) / 1_000;
  const span = spanOf(search, now, since === undefined ? 0 : Date.parse(since) / 1_000);
  const tables = hasOneTable ? { areShown, toggle: () => setShown(!areShown) } : null;
  const group = { crosshair, search, now, span, change: onSearch, tables };
  return <Shared value={group}>{children}</Shared>;
}

/** The group of a chart or range switch. Throws outside a {@link ChartGroup}. */
export function useChartGroup(): Group {
  const group = useContext(Shared);
  if (!group) throw new Error('A chart needs a ChartGroup around it.');
  return group;
}

/** Changes the group's span; null returns to the range before the zoom. */
export function useZoom(): (span: Span | null) => void {
  const { search, change } = useChartGroup();
  const range = search.range && { range: search.range };
  return (span) => change({ ...range, ...(span && searchOf(span)) });
}
