import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import { usePhone } from '../use-media.ts';
import { useLook } from './chart-colours.ts';
import type { Span } from './chart-range.ts';
import type { Crosshair } from './crosshair.ts';
import { type Drawing, dataOf, drawnColumns, optionsOf } from './plot-options.ts';

/** Where values are drawn, in pixels from the left edge of the plot. */
export interface Area {
  left: number;
  width: number;
}

/** Pixels: `--plot` of chart.css. */
const HEIGHT = 176;
const HEIGHT_ON_PHONE = 128;

interface PlotProps {
  drawing: Drawing;
  crosshair: Crosshair;
  onZoom: (span: Span | null) => void;
  onArea: (area: Area) => void;
}

/**
 * Draws lines on a canvas. A new drawing makes a new uPlot, because nearly all options depend on it. With rendering, that
 * takes 8 to 56 ms for 13 months of days (decision 0034).
 */
export function Plot({ drawing, crosshair, onZoom, onArea }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ onZoom, onArea });
  const look = useLook();
  const height = usePhone() ? HEIGHT_ON_PHONE : HEIGHT;
  useEffect(() => {
    latest.current = { onZoom, onArea };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another look has other colours
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let isPointing = false;
    const handlers = {
      onPoint: (at: number | null) => {
        isPointing = true;
        crosshair.move(at);
        isPointing = false;
      },
      onSelect: (span: Span) => latest.current.onZoom(span),
      onReset: () => latest.current.onZoom(null),
    };
    const chart = new UPlot(
      optionsOf(element, drawing, handlers, height),
      dataOf(drawnColumns(drawing)),
      element,
    );
    const showArea = () => {
      const { left, width } = chart.bbox;
      latest.current.onArea({ left: left / devicePixelRatio, width: width / devicePixelRatio });
    };
    const point = () => {
      if (isPointing) return;
      const at = crosshair.at();
      const isShown = at !== null && at >= drawing.span.from && at <= drawing.span.to;
      chart.setCursor({ left: isShown ? chart.valToPos(at, 'x') : -10, top: isShown ? 0 : -10 }, false);
    };
    // uPlot draws in a microtask.
    queueMicrotask(() => {
      showArea();
      point();
    });
    const unsubscribe = crosshair.subscribe(point);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === chart.width) return;
      chart.setSize({ width: element.clientWidth, height });
      queueMicrotask(showArea);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      unsubscribe();
      chart.destroy();
    };
  }, [drawing, height, crosshair, look]);
  return <div className="chart-plot" ref={place} />;
}
