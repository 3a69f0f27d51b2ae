import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programImports } from './import-rules.ts';
import { areaOf, ROOMS } from './rooms.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Where the picture is, for ARCHITECTURE.md. */
export const PICTURE = join(ROOT, 'docs/design/areas.svg');

/** A box of the picture: an area, in a row below those of all areas that import it. */
interface Box {
  area: string;
  row: number;
  x: number;
}

const WIDTH = 900;
const ROW = 68;
const BOX = { width: 210, height: 42 };
const TOP = 12;
// A row of one box is beside the middle, in turn, so that longer arrows pass it.
const BESIDE = 150;

/** The areas of src/ as a picture: one box each, and an arrow for each import that no longer way over other areas makes. */
export function areasPicture(): string {
  const imports = programImports(ROOT);
  const arrows = arrowsBetween(imports);
  const boxes = placeBoxes(arrows);
  const rows = Math.max(...[...boxes.values()].map(({ row }) => row)) + 1;
  const height = TOP * 2 + (rows - 1) * ROW + BOX.height;
  const drawn = [...withoutDetours(arrows)].flatMap(([from, others]) =>
    [...others].map((to) => arrow(boxes.get(from), boxes.get(to))),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" text-anchor="middle">
<title>The areas of src/ and what they import</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#64748b"/></marker></defs>
<g fill="none" stroke="#64748b" stroke-width="1.2" marker-end="url(#tip)">
${drawn.join('\n')}
</g>
${[...boxes.values()].map(box).join('\n')}
</svg>
`;
}

/** Area to the areas that it imports, in the order of the rooms. */
function arrowsBetween(imports: ReadonlyMap<string, readonly string[]>): Map<string, Set<string>> {
  const areas = new Set(ROOMS.map(areaOf).filter((area) => !area.endsWith('.ts')));
  const arrows = new Map([...areas].map((area) => [area, new Set<string>()]));
  for (const [from, others] of imports) {
    for (const to of others) {
      const [mine, other] = [from.split('/')[1] ?? '', to.split('/')[1] ?? ''];
      if (mine !== other) arrows.get(mine)?.add(other);
    }
  }
  return arrows;
}

function placeBoxes(arrows: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Box> {
  // An area stands above all that it imports, so each has its row before those below are placed.
  const rows = new Map<string, number>();
  for (const [area, others] of arrows) {
    const row = rows.get(area) ?? 0;
    rows.set(area, row);
    for (const other of others) rows.set(other, Math.max(rows.get(other) ?? 0, row + 1));
  }
  const boxes = new Map<string, Box>();
  for (const [row, areas] of Map.groupBy(rows.keys(), (area) => rows.get(area) ?? 0)) {
    areas.forEach((area, at) => {
      const aside = areas.length === 1 ? (row % 2 === 0 ? BESIDE : -BESIDE) : 0;
      boxes.set(area, { area, row, x: Math.round((WIDTH * (at + 1)) / (areas.length + 1)) + aside });
    });
  }
  return boxes;
}

/** Without the arrows whose end is also reached over other areas. */
function withoutDetours(arrows: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const reach = (area: string): Set<string> => {
    const reached = new Set(arrows.get(area));
    for (const next of reached) for (const other of arrows.get(next) ?? []) reached.add(other);
    return reached;
  };
  return new Map(
    [...arrows].map(([area, others]) => [
      area,
      [...others].filter((to) => ![...others].some((next) => next !== to && reach(next).has(to))),
    ]),
  );
}

function arrow(from: Box | undefined, to: Box | undefined): string {
  if (!from || !to) return '';
  const [start, end] = [TOP + from.row * ROW + BOX.height, TOP + to.row * ROW];
  const bend = Math.round((end - start) / 2);
  return `<path d="M${from.x} ${start}C${from.x} ${start + bend} ${to.x} ${end - bend} ${to.x} ${end}"/>`;
}

function box({ area, row, x }: Box): string {
  const y = TOP + row * ROW;
  const inside = ROOMS.filter((room) => room.startsWith(`${area}/`)).map((room) => room.split('/')[1]);
  const rooms = inside.length > 4 ? `${inside.slice(0, 4).join(', ')} …` : inside.join(', ');
  return `<rect x="${x - BOX.width / 2}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6" fill="#e8f0fe" stroke="#3b6fd4"/>
<text x="${x}" y="${y + (rooms ? 19 : 26)}" font-size="14" font-weight="600" fill="#0f172a">${area}/</text>${rooms && `\n<text x="${x}" y="${y + 34}" font-size="10" fill="#475569">${rooms}</text>`}`;
}

// `npm run areas` writes the picture.
if (import.meta.main) writeFileSync(PICTURE, areasPicture());
