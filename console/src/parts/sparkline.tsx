import './sparkline.css';

interface SparklineProps {
  /** Oldest first; null makes a gap in the line. */
  values: readonly (number | null)[];
  /** Where the values are between the left end (0) and the right end (1); by default they are evenly spaced. */
  places?: readonly number[];
  /** A text alternative, such as "Score of the last 30 days: from 92 to 61". */
  label: string;
  /** The top of the scale, which starts at 0. */
  max?: number;
  width?: number;
  height?: number;
}

/** The segments of the line between gaps, as points `x,y`. A single value between gaps is drawn as a dot. */
function stretches(
  values: readonly (number | null)[],
  place: (value: number, index: number) => string,
): string[][] {
  const found: string[][] = [[]];
  values.forEach((value, index) => {
    if (value === null) found.push([]);
    else found.at(-1)?.push(place(value, index));
  });
  return found.filter((points) => points.length > 0);
}

/** The area below a line. */
function area(points: readonly string[], foot: number): string {
  const [first = '', last = ''] = [points[0], points.at(-1)].map((point) => point?.split(',')[0]);
  return `${first},${foot} ${points.join(' ')} ${last},${foot}`;
}

/** A small line without axes, beside the figures that it shows. */
export function Sparkline({ values, places, label, max = 100, width = 96, height = 24 }: SparklineProps) {
  const step = 1 / Math.max(1, values.length - 1);
  const place = (value: number, index: number) =>
    `${(2 + (places?.[index] ?? index * step) * (width - 4)).toFixed(1)},${(height - 2 - (value / max) * (height - 4)).toFixed(1)}`;
  const lines = stretches(values, place);
  return (
    <svg
      aria-label={label}
      className="sparkline"
      height={height}
      preserveAspectRatio="none"
      role="img"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
    >
      <title>{label}</title>
      {lines.length === 0 && <path className="sparkline-none" d={`M2 ${height / 2}H${width - 2}`} />}
      {lines.map((points) => (
        <polygon key={points[0]} points={area(points, height - 2)} />
      ))}
      {lines.map((points) => (
        // A line without length and with round ends is a dot.
        <polyline
          className={points.length === 1 ? 'sparkline-dot' : undefined}
          key={points[0]}
          points={points.length === 1 ? `${points[0]} ${points[0]}` : points.join(' ')}
        />
      ))}
    </svg>
  );
}
