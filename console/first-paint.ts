import { gzipSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';

/** Limit in bytes, gzipped, for everything that a browser loads before it shows the fleet. */
const MOST = 280_000;
const FIRST_PAGE = 'src/pages/fleet/fleet.tsx';

type Bundle = Rolldown.OutputBundle;

/** The chunk with its static imports and their styles. */
function withImports(bundle: Bundle, name: string, found = new Set<string>()): Set<string> {
  const chunk = bundle[name];
  if (chunk?.type !== 'chunk' || found.has(name)) return found;
  found.add(name);
  for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
  for (const imported of chunk.imports) withImports(bundle, imported, found);
  return found;
}

function gzipped(bundle: Bundle, name: string): number {
  const file = bundle[name];
  if (!file) return 0;
  return gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length;
}

/** The font that the first paint needs, which index.html preloads. */
const FONT = /inter-basic-[\w-]+\.woff2$/;

/** Preloads the font, which the browser would find only in the style sheet. */
export function preloadFont(): Plugin {
  return {
    name: 'preload-font',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(_html, { bundle = {} }) {
        const file = Object.keys(bundle).find((name) => FONT.test(name));
        if (file === undefined) throw new Error('The font is not in the bundle.');
        const attrs = { rel: 'preload', as: 'font', type: 'font/woff2', href: `./${file}`, crossorigin: '' };
        return [{ tag: 'link', attrs, injectTo: 'head-prepend' }];
      },
    },
  };
}

/** Prints the size of the first paint, and fails the build above 280 kB. */
export function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    apply: 'build',
    enforce: 'post',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const first = Object.values(bundle).filter(
          (file) =>
            file.type === 'chunk' && (file.isEntry || file.facadeModuleId?.endsWith(FIRST_PAGE) === true),
        );
        if (first.length !== 2)
          this.error(`The first paint is index.html and ${FIRST_PAGE}, but there are ${first.length}.`);
        const fonts = Object.keys(bundle).filter((name) => FONT.test(name));
        const files = new Set([
          ...first.flatMap(({ fileName }) => [...withImports(bundle, fileName)]),
          ...fonts,
        ]);
        const sizes = [...files].map((name) => ({ name, size: gzipped(bundle, name) }));
        const whole = sizes.reduce((sum, { size }) => sum + size, 0);
        const lines = sizes.toSorted((a, b) => b.size - a.size).map(({ name, size }) => `  ${size} ${name}`);
        const told = `First paint: ${whole} bytes gzipped of ${MOST} at most\n${lines.join('\n')}`;
        if (whole > MOST) this.error(told);
        else this.info(told);
      },
    },
  };
}
