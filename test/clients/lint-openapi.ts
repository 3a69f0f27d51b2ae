import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../openapi.json', import.meta.url));

// Disables telemetry and update checks of both.
const QUIET = { SCARF_ANALYTICS: 'false', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** The findings of Spectral's and Redocly's recommended rules in `openapi.json`, including warnings and hints. */
export function lintOpenapi(document = DOCUMENT): string[] {
  return [...spectral(document), ...redocly(document)];
}

function spectral(document: string): string[] {
  const ruleset = ['--ruleset', 'spectral.yaml', '--fail-severity', 'hint'];
  const found = output('spectral', ['lint', document, ...ruleset, '--format', 'json', '--quiet']);
  return JSON.parse(found).map(
    ({ code, message, path }: { code: string; message: string; path: string[] }) =>
      `Spectral ${code} at ${path.join('.')}: ${message}`,
  );
}

function redocly(document: string): string[] {
  const found = output('redocly', ['lint', document, '--config', 'redocly.yaml', '--format', 'json']);
  return JSON.parse(found).problems.map(
    ({ ruleId, message, location }: { ruleId: string; message: string; location: { pointer: string }[] }) =>
      `Redocly ${ruleId} at ${location[0]?.pointer}: ${message}`,
  );
}

function output(program: string, args: string[]): string {
  const { stdout, stderr, error } = spawnSync(`${here}node_modules/.bin/${program}`, args, {
    cwd: here,
    env: { ...process.env, ...QUIET },
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error || !stdout.trim()) throw new Error(`${program} gave nothing: ${error?.message ?? stderr}`);
  return stdout;
}
