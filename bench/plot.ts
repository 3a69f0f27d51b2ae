/** A line of the plot. */
export interface Line {
  name: string;
  /** In milliseconds, one for each size. */
  values: number[];
}

const [WIDTH, HEIGHT] = [760, 420];
const AREA = { left: 70, right: 540, top: 60, bottom: 350 };
// Marks distinguish the lines without colour.
const STYLES = [
  { colour: '#0b6bcb', mark: (x: number, y: number) => `<circle cx="${x}" cy="${y}" r="5"/>` },
  {
    colour: '#c2410c',
    mark: (x: number, y: number) => `<rect x="${x - 4.5}" y="${y - 4.5}" width="9" height="9"/>`,
  },
  { colour: '#15803d', mark: (x: number, y: number) => `<path d="M${x} ${y - 6} l6 10.5 h-12 z"/>` },
  {
    colour: '#7e22ce',
    mark: (x: number, y: number) => `<path d="M${x} ${y - 6.5} l6.5 6.5 -6.5 6.5 -6.5 -6.5 z"/>`,
  },
];

/** An SVG of time, from 0 to `limit` milliseconds or beyond, against size, on a logarithmic axis. */
export function plot(title: string, sizes: readonly number[], lines: readonly Line[], limit: number): string {
  const top = 1.1 * Math.max(limit, ...lines.flatMap(({ values }) => values));
  const step = [0.5, 1, 2, 5, 10, 20, 50].find((each) => top / each <= 8) ?? 100;
  const [smallest, largest] = [Math.log10(sizes[0] ?? 1), Math.log10(sizes.at(-1) ?? 10)];
  const x = (size: number) =>
    round(
      AREA.left +
        20 +
        ((Math.log10(size) - smallest) / (largest - smallest || 1)) * (AREA.right - AREA.left - 40),
    );
  const y = (ms: number) => round(AREA.bottom - (ms / top) * (AREA.bottom - AREA.top));
  const across = (ms: number, look: string) =>
    `<line x1="${AREA.left}" x2="${AREA.right}" y1="${y(ms)}" y2="${y(ms)}" ${look}/>`;
  const text = (left: number, base: number, said: string, look = '') =>
    `<text x="${left}" y="${base}" ${look}>${escaped(said)}</text>`;
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, n) => n * step);
  const middle = (AREA.top + AREA.bottom) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="13" fill="#1f2328">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(AREA.left, 32, title, 'font-size="17" font-weight="600"'),
    ...ticks.map((ms) => across(ms, `stroke="${ms === 0 ? '#1f2328' : '#d0d7de'}"`)),
    ...ticks.map((ms) => text(AREA.left - 8, y(ms) + 4, `${ms}`, 'text-anchor="end"')),
    text(18, middle, 'median, milliseconds', `text-anchor="middle" transform="rotate(-90 18 ${middle})"`),
    ...sizes.map((size) =>
      text(x(size), AREA.bottom + 22, size.toLocaleString('en-US'), 'text-anchor="middle"'),
    ),
    text(
      (AREA.left + AREA.right) / 2,
      AREA.bottom + 48,
      "entries in the account's log",
      'text-anchor="middle"',
    ),
    across(limit, 'stroke="#1f2328" stroke-dasharray="6 4"'),
    text(AREA.right + 12, y(limit) + 4, `limit: ${limit} ms`),
    ...lines.flatMap(({ name, values }, n) => {
      const { colour, mark } = STYLES[n % STYLES.length] ?? { colour: '', mark: () => '' };
      const points = values.map((ms, place) => [x(sizes[place] ?? 1), y(ms)] as const);
      const legend = AREA.bottom - 24 * (lines.length - n - 1) - 60;
      return [
        `<g fill="${colour}" stroke="${colour}">`,
        `<polyline fill="none" stroke-width="2" points="${points.map((point) => point.join()).join(' ')}"/>`,
        ...points.map((point) => mark(...point)),
        mark(AREA.right + 20, legend - 4),
        '</g>',
        text(AREA.right + 34, legend, name),
      ];
    }),
    '</svg>\n',
  ].join('\n');
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
