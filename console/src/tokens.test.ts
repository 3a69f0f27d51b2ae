import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const TEXT = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');
const PAIR = /--([\w-]+): (?:light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)|(#[0-9a-f]{6}));/g;

/** Each colour by its name, light and dark. */
const COLOURS = new Map(
  [...TEXT.matchAll(PAIR)].map(([, name, light, dark, both]) => [
    name,
    [light ?? both, dark ?? both] as const,
  ]),
);

/** Relative luminance as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const GROUNDS = ['page', 'side', 'raised', 'sunken', 'hover'];
const LINES = [1, 2, 3, 4, 5, 6].map((place) => `series-${place}`);
const TONES = ['critical', 'warning', 'healthy', 'none', 'accent'];

// WCAG 2.2: 4.5 for text (1.4.3), 3 for the edges of boxes, marks, lines and focus (1.4.11).
const CASES = [
  ...['ink', 'ink-2', 'ink-3', ...TONES].flatMap((ink) =>
    GROUNDS.map((ground) => [ink, ground, 4.5] as const),
  ),
  ...TONES.map((tone) => [tone, `${tone}-soft`, 4.5] as const),
  ['ink', 'accent-soft', 4.5] as const,
  ...['accent-solid', 'accent-solid-hover', 'critical-solid'].map(
    (ground) => ['on-accent', ground, 4.5] as const,
  ),
  ...['line-strong', 'focus', ...LINES].flatMap((edge) =>
    GROUNDS.map((ground) => [edge, ground, 3] as const),
  ),
];

test.each(CASES)('%s on %s has a contrast of at least %d, light and dark', (ink, ground, least) => {
  for (const theme of [0, 1] as const) {
    const [above, below] = [COLOURS.get(ink)?.[theme], COLOURS.get(ground)?.[theme]];
    expect(above && below && contrast(above, below)).toBeGreaterThanOrEqual(least);
  }
});
