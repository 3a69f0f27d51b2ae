import { type KeyboardEvent, useEffect, useRef } from 'react';
import { announce } from '../announcer.tsx';
import { type Columns, nearest } from './chart-data.ts';
import { useChartGroup, useZoom } from './chart-group.tsx';
import { zoomed } from './chart-range.ts';

/** Values are read out when the arrows rest: a held key would queue up a hundred of them. */
const REST_MS = 150;
/** Points per arrow with Shift. */
const LEAP = 10;

/** How far a key moves the crosshair; null for other keys. */
function stepOf({ key, shiftKey }: KeyboardEvent, count: number): number | null {
  const steps: Record<string, number> = {
    ArrowLeft: shiftKey ? -LEAP : -1,
    ArrowRight: shiftKey ? LEAP : 1,
    Home: -count,
    End: count,
  };
  return steps[key] ?? null;
}

const FACTORS: Record<string, number> = { '+': 0.5, '=': 0.5, '-': 2, _: 2 };

/**
 * The keyboard of a chart. The arrows move the crosshair and announce the point by `textOf` its index, + and - zoom
 * around the crosshair, Escape ends the zoom.
 */
export function useChartKeys(
  { at }: Columns,
  textOf: (index: number) => string,
): (event: KeyboardEvent) => void {
  const { crosshair, search, span, now } = useChartGroup();
  const zoom = useZoom();
  const rest = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(rest.current), []);
  const goTo = (index: number) => {
    const place = Math.max(0, Math.min(index, at.length - 1));
    crosshair.move(at[place] ?? null);
    clearTimeout(rest.current);
    rest.current = setTimeout(() => announce(textOf(place)), REST_MS);
  };
  const isZoomed = search.from !== undefined || search.to !== undefined;
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepOf(event, at.length);
    const factor = FACTORS[event.key];
    const pointed = crosshair.at();
    if (step !== null) {
      const place = pointed === null ? (step > 0 ? -1 : at.length) : nearest(at, pointed);
      // The first arrow goes to the last value.
      goTo(pointed === null && Math.abs(step) < at.length ? at.length - 1 : place + step);
    } else if (factor !== undefined) {
      const next = zoomed(span, pointed ?? (span.from + span.to) / 2, factor, now);
      zoom(next);
      announce(factor < 1 ? 'Zoomed in' : 'Zoomed out');
    } else if (event.key === 'Escape' && (isZoomed || pointed !== null)) {
      crosshair.move(null);
      if (isZoomed) {
        zoom(null);
        announce('Zoom ended');
      }
    } else return;
    event.preventDefault();
  };
}
