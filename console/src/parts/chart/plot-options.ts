import type UPlot from 'uplot';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { axisDate, fieldValue, formatter } from '../../time-zone.ts';
import { colourOf } from './chart-colours.ts';
import { type Columns, stack, type Threshold, valueRange } from './chart-data.ts';
import type { Span } from './chart-range.ts';
import { axisSteps, axisTexts, valueText } from './value-text.ts';

/** The most lines of a chart: as many as there are colours. */
export const MOST_LINES = 6;

/** The dashes of each line, so that not only its colour tells it from the others. The legend shows them too. */
export const DASHES: readonly number[][] = [[], [7, 3], [2, 3], [10, 3, 2, 3], [4, 2], [12, 5]];

/** The width of a marker of changes in pixels; closer changes share one. */
export const MARKER_WIDTH = 24;

/** Below this count, values are also drawn as points. */
const FEW = 24;

/** What a plot draws. */
export interface Drawing {
  columns: Columns;
  unit: Unit;
  span: Span;
  thresholds: readonly Threshold[];
  /** When something changed, in Unix seconds. */
  changes: readonly number[];
  /** Whether each line stands on the one before it. Its lines are filled. */
  isStacked: boolean;
  /** The ends of the value axis; null if they follow the values. */
  bounds: readonly [from: number, to: number] | null;
}

interface Handlers {
  onPoint: (at: number | null) => void;
  onSelect: (span: Span) => void;
  onReset: () => void;
}

const DAY = formatter({ day: 'numeric', month: 'short' });
const HOUR = formatter({ hour: '2-digit', minute: '2-digit' });
const SECOND = formatter({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const MONTH = formatter({ month: 'short' });
const YEAR = formatter({ month: 'short', year: 'numeric' });

/** A mark of the time axis; `step` is the distance between marks in seconds. */
export function timeMark(time: number, step: number): string {
  const at = time * 1_000;
  const [day = '', timeOfDay] = fieldValue(at).split('T');
  if (step >= 28 * 86_400) return (day.slice(5, 7) === '01' ? YEAR : MONTH)(at);
  if (step >= 86_400 || (timeOfDay === '00:00' && time % 60 === 0)) return DAY(at);
  return (step < 60 ? SECOND : HOUR)(at);
}

/** Values alone between gaps would not show as a line. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  const found: number[] = [];
  let before: number | null = null;
  let last = -1;
  for (let index = 0; index <= values.length; index++) {
    const value = values[index];
    if (value === undefined && index < values.length) continue;
    if (typeof value === 'number') {
      if (last === -1) before = index;
      else before = null;
      last = index;
    } else {
      if (before !== null) found.push(before);
      [before, last] = [null, -1];
    }
  }
  return found;
}

/** The opacity of the area below a line of a stack. */
const STACKED_FILL = 0.35;

function translucent(place: HTMLElement, index: number, opacity: number): string {
  return colourOf(place, `--series-${index + 1}`).replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`);
}

function seriesOf({ lines }: Columns, place: HTMLElement, isStacked: boolean): UPlot.Series[] {
  const isFew = (count: number) => count < FEW;
  return lines.flatMap(({ values, low }, index) => {
    const stroke = colourOf(place, `--series-${index + 1}`);
    const points = {
      size: 5,
      fill: stroke,
      filter: (_: UPlot, __: number, show: boolean | undefined) => (show ? null : alone(values)),
    };
    const line: UPlot.Series = {
      stroke,
      width: 1.75,
      dash: [...(DASHES[index] ?? [])],
      ...(isStacked && index === 0 && { fill: translucent(place, index, STACKED_FILL) }),
      points: { ...points, ...(isFew(values.length) ? { show: true } : { show: false }) },
    };
    const edge: UPlot.Series = { width: 0, points: { show: false } };
    return low ? [line, edge, edge] : [line];
  });
}

/** The bands between the lowest and highest values, and the columns of all series as uPlot numbers them. */
function bandsOf({ lines }: Columns, place: HTMLElement, isStacked: boolean): UPlot.Band[] {
  if (isStacked)
    return lines.slice(1).map((_, index) => ({
      series: [index + 2, index + 1],
      fill: translucent(place, index + 1, STACKED_FILL),
    }));
  let at = 1;
  return lines.flatMap(({ low }, index) => {
    const first = at;
    at += low ? 3 : 1;
    const fill = translucent(place, index, lines.length > 1 ? 0.12 : 0.2);
    return low ? [{ series: [first + 2, first + 1], fill } as UPlot.Band] : [];
  });
}

/** What a plot draws of its columns. */
export function drawnColumns({ columns, isStacked }: Drawing): Columns {
  return isStacked ? stack(columns) : columns;
}

/** The data of a plot: times, then each line, followed by its lowest and highest values if it has a band. */
export function dataOf({ at, lines }: Columns): UPlot.AlignedData {
  return [at, ...lines.flatMap(({ values, low, high }) => (low && high ? [values, low, high] : [values]))];
}

function drawThresholds(chart: UPlot, place: HTMLElement, { thresholds, unit }: Drawing, font: string): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.lineWidth = ratio;
  ctx.font = font.replace(/^\d+/, String(11 * ratio));
  ctx.textAlign = 'right';
  let above = { y: Number.NEGATIVE_INFINITY, x: 0 };
  for (const { value, label, level } of thresholds.toSorted((one, other) => other.value - one.value)) {
    const y = Math.round(chart.valToPos(value, 'y', true));
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.strokeStyle = ctx.fillStyle = colourOf(place, level === 'limit' ? '--ink-2' : `--${level}`);
    ctx.setLineDash([4 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const isAtTop = y - bbox.top < 14 * ratio;
    ctx.textBaseline = isAtTop ? 'top' : 'bottom';
    const text = `${label} ${valueText(value, unit)}`;
    const right = bbox.left + bbox.width - 4 * ratio;
    const base = y + (isAtTop ? 3 : -2) * ratio;
    // A label that would cover the one above is drawn beside it.
    const x = Math.abs(base - above.y) < 28 * ratio ? above.x : right;
    ctx.fillText(text, x, base);
    above = { y: base, x: x - ctx.measureText(text).width - 12 * ratio };
  }
  ctx.restore();
}

function drawChanges(chart: UPlot, colour: string, { changes, span }: Drawing): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  let last = Number.NEGATIVE_INFINITY;
  for (const at of changes.toSorted((one, other) => one - other)) {
    if (at < span.from || at > span.to) continue;
    const x = Math.round(chart.valToPos(at, 'x', true));
    if (x - last < MARKER_WIDTH * devicePixelRatio) continue;
    last = x;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

/** The width of the value axis in pixels: that of its longest mark in a font of 11 pixels. */
function axisWidth(_: UPlot, marks: readonly string[] | null): number {
  return Math.max(34, Math.max(0, ...(marks ?? []).map((mark) => mark.length)) * 6.2 + 12);
}

/** The options of a plot of this size, in pixels. */
export function optionsOf(
  place: HTMLElement,
  drawing: Drawing,
  { onPoint, onSelect, onReset }: Handlers,
  height: number,
): UPlot.Options {
  const { unit, span, thresholds, changes, isStacked, bounds } = drawing;
  const columns = drawnColumns(drawing);
  const [ink = '', hair = '', strong = ''] = ['--ink-2', '--line', '--line-strong'].map((token) =>
    colourOf(place, token),
  );
  const font = `11px ${getComputedStyle(place).fontFamily}`;
  const axis = { stroke: ink, font, ticks: { show: false } };
  const [low, high] = bounds ?? valueRange(columns.lines, thresholds, unit === 'ratio');
  return {
    width: place.clientWidth,
    height,
    // On the right, half of the last date.
    padding: [changes.length > 0 ? 24 : 10, 20, 0, 0],
    legend: { show: false },
    tzDate: axisDate,
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 4 },
      points: { size: (_, index) => (columns.lines[0]?.low && index % 3 !== 1 ? 0 : 7) },
      bind: {
        dblclick: () => () => {
          onReset();
          return null;
        },
      },
    },
    scales: { x: { range: () => [span.from, span.to] }, y: { range: () => [low, high] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        gap: 6,
        space: 56,
        values: (_, times, _axis, _space, step) => times.map((time) => timeMark(time, step)),
      },
      {
        ...axis,
        grid: { stroke: hair, width: 1 },
        size: axisWidth,
        gap: 6,
        space: 32,
        incrs: axisSteps(unit),
        values: (_, values) => axisTexts(values, unit),
      },
    ],
    series: [{}, ...seriesOf(columns, place, isStacked)],
    bands: bandsOf(columns, place, isStacked),
    hooks: {
      drawAxes: [(chart) => drawChanges(chart, strong, drawing)],
      draw: [(chart) => drawThresholds(chart, place, drawing, font)],
      setCursor: [
        ({ cursor, data }) =>
          cursor.event && onPoint(typeof cursor.idx === 'number' ? (data[0][cursor.idx] ?? null) : null),
      ],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width > 0) onSelect({ from: chart.posToVal(left, 'x'), to: chart.posToVal(left + width, 'x') });
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
