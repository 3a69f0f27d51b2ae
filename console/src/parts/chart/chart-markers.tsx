import { type KeyboardEvent, useState } from 'react';
import { Button } from '../button.tsx';
import { counted } from '../figure.ts';
import { Time } from '../time.tsx';
import type { Span } from './chart-range.ts';
import type { Area } from './plot.tsx';
import { MARKER_WIDTH } from './plot-options.ts';

/** Something that changed, in words. `at` in Unix seconds. */
export interface ChartChange {
  id: number;
  at: number;
  text: string;
}

/** How many changes a marker's name reads out. */
const SAID = 4;

interface Marker {
  at: number;
  left: number;
  changes: ChartChange[];
}

function markersOf(changes: readonly ChartChange[], { from, to }: Span, { left, width }: Area): Marker[] {
  const markers: Marker[] = [];
  for (const change of changes.toSorted((a, b) => a.at - b.at)) {
    if (change.at < from || change.at > to) continue;
    const place = left + ((change.at - from) / (to - from)) * width;
    const last = markers.at(-1);
    if (last && place - last.left < MARKER_WIDTH) last.changes.push(change);
    else markers.push({ at: change.at, left: place, changes: [change] });
  }
  return markers;
}

function nameOf({ changes }: Marker): string {
  const said = changes.slice(0, SAID).map(({ text }) => text);
  const more = changes.length > SAID ? [`and ${changes.length - SAID} more`] : [];
  return `${counted(changes.length, 'change')}: ${[...said, ...more].join('; ')}`;
}

interface ChartMarkersProps {
  changes: readonly ChartChange[];
  span: Span;
  area: Area;
}

/** Markers above a plot, one for the changes at about one time. One Tab stop: the arrows go from one to the next. */
export function ChartMarkers({ changes, span, area }: ChartMarkersProps) {
  const markers = markersOf(changes, span, area);
  const [openAt, setOpenAt] = useState<number | null>(null);
  const [current, setCurrent] = useState(0);
  const open = markers.find(({ at }) => at === openAt);
  const stop = Math.min(current, markers.length - 1);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === 'Escape' && open) setOpenAt(null);
    else if (step === undefined) return;
    else {
      const next = Math.max(0, Math.min(stop + step, markers.length - 1));
      setCurrent(next);
      event.currentTarget.querySelectorAll('button')[next]?.focus();
    }
    event.preventDefault();
  };
  if (markers.length === 0) return null;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields */}
      <div aria-label="Changes" className="chart-markers" onKeyDown={onKeyDown} role="group">
        {markers.map((marker, index) => (
          <button
            aria-expanded={marker.at === openAt}
            aria-label={nameOf(marker)}
            className="chart-marker"
            key={marker.at}
            onClick={() => {
              setCurrent(index);
              setOpenAt(marker.at === openAt ? null : marker.at);
            }}
            style={{ insetInlineStart: marker.left - MARKER_WIDTH / 2 }}
            tabIndex={index === stop ? 0 : -1}
            title={nameOf(marker)}
            type="button"
          >
            <span>
              {marker.changes.length > 1 && marker.changes.length < 100 ? marker.changes.length : ''}
            </span>
          </button>
        ))}
      </div>
      {open && (
        <div className="chart-changes">
          <ul>
            {open.changes.map(({ id, at, text }) => (
              <li key={id}>
                <Time as="local" at={new Date(at * 1_000)} /> <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
          <Button kind="quiet" onPress={() => setOpenAt(null)} small>
            Close
          </Button>
        </div>
      )}
    </>
  );
}
