import { SCORE_BANDS } from '../../../../src/vocabulary/score-bands.ts';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import { colourOf, useLook } from '../../parts/chart/chart-colours.ts';
import { local } from '../../parts/time.tsx';
import { axisDate, formatter } from '../../time-zone.ts';
import { chartColumns, type History, maintenanceSpans, timeSpan, utcDay } from './score-days.ts';

/** Pixels. */
const HEIGHT = 168;
/** Below the first a score is critical, from the second on healthy (decisions: fleet status). */
const LIMITS = [SCORE_BANDS.warning, SCORE_BANDS.healthy];

/** Below this count, scores are also drawn as points. */
const FEW = 24;

const DAY = formatter({ day: 'numeric', month: 'short' });
const HOUR = formatter({ hour: '2-digit', minute: '2-digit' });

function drawLimits(chart: UPlot, colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const limit of LIMITS) {
    const y = Math.round(chart.valToPos(limit, 'y', true));
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}

/** Spans as bands behind the line, each wide enough to be seen. */
function drawSpans(chart: UPlot, spans: readonly [from: number, to: number][], colour: string): void {
  const { ctx, bbox } = chart;
  const least = 3 * devicePixelRatio;
  ctx.save();
  ctx.fillStyle = colour;
  for (const span of spans) {
    const [from = 0, to = 0] = span.map((time) => chart.valToPos(time, 'x', true));
    const width = Math.max(to - from, least);
    ctx.fillRect(Math.min(from, bbox.left + bbox.width - width), bbox.top, width, bbox.height);
  }
  ctx.restore();
}

function optionsOf(
  place: HTMLElement,
  spans: readonly [from: number, to: number][],
  isFew: boolean,
  onPoint: (index: number | null) => void,
): UPlot.Options {
  const [line, ink, hair] = ['--accent', '--ink-2', '--line'].map((token) => colourOf(place, token));
  const limits = colourOf(place, '--line-strong');
  const font = `12px ${getComputedStyle(place).fontFamily}`;
  const axis = { stroke: ink ?? '', font, ticks: { show: false } };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    tzDate: axisDate,
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
    scales: {
      x: { range: ({ data: [times] }) => timeSpan(Array.from(times)) },
      y: { range: [0, 100] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 34,
        gap: 10,
        space: 64,
        values: (_, times, _axis, _space, step) =>
          times.map((time) => (step < 86_400 ? HOUR : DAY)(time * 1_000)),
      },
      { ...axis, grid: { stroke: hair ?? '', width: 1 }, size: 34, splits: () => [0, ...LIMITS, 100] },
    ],
    // A few scores of one hour would not show as a line.
    series: [{}, { stroke: line ?? '', width: 2, points: { size: 5, ...(isFew && { show: true }) } }],
    hooks: {
      drawAxes: [(chart) => drawSpans(chart, spans, hair ?? ''), (chart) => drawLimits(chart, limits)],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
    },
  };
}

/** The score chart; `label` is its text alternative. A table of days is shown below it. */
export function ScoreChart({ history, label }: { history: Readonly<History>; label: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const look = useLook();
  const [times, scores] = chartColumns(history);
  const columns = JSON.stringify([times, scores]);
  const spans = JSON.stringify(maintenanceSpans(history));
  const isFew = times.length < FEW;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another look has other colours
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const chart = new UPlot(
      optionsOf(element, JSON.parse(spans), isFew, setPointed),
      JSON.parse(columns),
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [columns, spans, isFew, look]);
  const at = pointed === null ? undefined : times[pointed];
  const check = at === undefined ? undefined : history.find((one) => Date.parse(one.at) === at * 1_000);
  return (
    <div className="score-chart">
      <div aria-label={label} ref={place} role="img" />
      <p aria-hidden="true" className="quiet small pointed">
        {check
          ? `${check.of_day ? utcDay(check.at) : local(new Date(check.at))}: ${check.score}${check.in_maintenance ? ', in maintenance' : ''}`
          : `Healthy from ${SCORE_BANDS.healthy}, critical below ${SCORE_BANDS.warning}${spans === '[]' ? '' : '; shaded: in maintenance'}`}
      </p>
    </div>
  );
}
