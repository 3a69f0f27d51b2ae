import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { needPackages } from './debian.ts';
import { eventually, startProgram } from './program.ts';
import type { SampleService } from './sample-service.ts';

const PAGES = join(import.meta.dirname, '../../docs/integrations');
/** Kept between runs: it is compiled in some minutes. */
const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/fluent-bit');
const PROGRAM = join(FOLDER, 'fluent-bit');
/** A package of npm that contains the source of Fluent Bit 1.8.15, and no program. */
const PACKAGE = 'fluent-bit@0.0.3';
const PLUGINS = ['FLB_IN_EXEC', 'FLB_IN_STORAGE_BACKLOG', 'FLB_OUT_STDOUT'];
const PARTS = ['LUAJIT', 'AWS', 'SIGNV4', 'SQLDB', 'EXAMPLES', 'SHARED_LIB', 'STREAM_PROCESSOR', 'DEBUG'];
/** The package lacks Onigmo, a fork of Oniguruma, which Debian has. */
const ONIGMO = {
  'lib/onigmo/onigmo.h': '#include <oniguruma.h>\n#define OnigPosition int\n',
  'cmake/onigmo.cmake': `add_library(libonigmo INTERFACE IMPORTED GLOBAL)
set_target_properties(libonigmo PROPERTIES INTERFACE_LINK_LIBRARIES onig)
include_directories(\${PROJECT_SOURCE_DIR}/lib/onigmo)
`,
};

/** Fluent Bit runs the page's classic file, and passes on each entry of the activity log once, with its time. */
export async function followInFluentBit(service: SampleService): Promise<string[]> {
  needPackages('curl', 'jq', 'cmake', 'g++', 'make', 'bison', 'flex', 'libonig-dev');
  compile();
  const folder = service.folder('fluent-bit');
  const script = join(PAGES, 'curl-and-jq/new-entries.sh');
  const page = readFileSync(join(PAGES, 'fluent-bit/fluent-bit.conf'), 'utf8');
  const hurried = page
    .replace('/usr/local/lib/dbvitals/new-entries.sh', script)
    .replace('interval_sec 60', 'interval_sec 2');
  writeFileSync(join(folder, 'fluent-bit.conf'), hurried);
  copyFileSync(join(PAGES, 'fluent-bit/parsers.conf'), join(folder, 'parsers.conf'));
  writeFileSync(join(folder, 'header'), `Authorization: Bearer ${service.key}\n`, { mode: 0o600 });
  const env = {
    PATH: process.env['PATH'] ?? '',
    DBVITALS_URL: service.origin,
    DBVITALS_HEADER: join(folder, 'header'),
    DBVITALS_STATE: join(folder, 'state'),
  };
  const fluentBit = startProgram(PROGRAM, ['--config', 'fluent-bit.conf'], { cwd: folder, env });
  const readEntries = () =>
    fluentBit
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { date: number; id: number; occurred_at: string });
  try {
    // Its own requests are entries too, which come with the next call.
    await eventually(() => (readEntries().length > 1_000 ? true : undefined), 60);
    const before = readEntries().length;
    await eventually(() => (readEntries().length > before ? true : undefined), 30);
  } finally {
    await fluentBit.stop();
  }
  const entries = readEntries();
  const wrong: string[] = [];
  if (entries.length <= 1_000)
    wrong.push(`only ${entries.length} entries came: ${fluentBit.output().slice(-1_000)}`);
  const at = entries.findIndex(({ id }, index) => id !== index + 1);
  if (at >= 0) wrong.push(`entry ${at + 1} came as ${entries[at]?.id}`);
  const late = entries.find(({ date, occurred_at }) => Math.abs(date * 1_000 - Date.parse(occurred_at)) > 1);
  if (late) wrong.push(`entry ${late.id} of ${late.occurred_at} has the time ${late.date}`);
  return wrong;
}

/** Compiles the program of the package's source, with the plugins of the page alone. */
function compile(): void {
  if (existsSync(PROGRAM)) return;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const run = (program: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(program, args, {
      cwd: FOLDER,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (status !== 0)
      throw new Error(`Fluent Bit could not be made: ${program} said ${stderr.slice(-2_000)}`);
  };
  run('npm', 'pack', PACKAGE, '--silent');
  run('tar', 'xzf', 'fluent-bit-0.0.3.tgz');
  const source = join(FOLDER, 'package/src/fluent-bit');
  const options = readFileSync(join(source, 'CMakeLists.txt'), 'utf8').matchAll(
    /^option\((FLB_(?:IN|OUT|FILTER|CUSTOM)_\w+)/gm,
  );
  const plugins = [...options].map(([, name = '']) => `-D${name}=${PLUGINS.includes(name) ? 'On' : 'Off'}`);
  const parts = PARTS.map((name) => `-DFLB_${name}=Off`);
  mkdirSync(join(source, 'lib/onigmo'), { recursive: true });
  for (const [name, text] of Object.entries(ONIGMO)) writeFileSync(join(source, name), text);
  // The source is older than today's defaults of the compiler.
  const flags = ['-DFLB_RELEASE=On', '-DCMAKE_C_FLAGS=-fcommon -w'];
  run('cmake', '-S', source, '-B', 'build', ...flags, ...parts, ...plugins);
  run('cmake', '--build', 'build', '--parallel', '2', '--target', 'fluent-bit-bin');
  renameSync(join(FOLDER, 'build/bin/fluent-bit'), PROGRAM);
  rmSync(join(FOLDER, 'package'), { recursive: true });
  rmSync(join(FOLDER, 'build'), { recursive: true });
}
