import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { nextMinorReleases } from '../../src/checks/postgres/minor-outdated.ts';

// npm runs this in the package's root. If the version must not be released, it prints the reason to standard error and
// exits with 1. `npm version` passes the new version; otherwise the current one is checked.
const manifest: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const version = process.env['npm_new_version'] ?? manifest.version;

const [heading = ''] = /^## .*$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
const [, named, day = ''] = /^## (\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? [];

if (named !== version || Number.isNaN(Date.parse(day)))
  refuse(
    `CHANGELOG.md begins with "${heading}": to release ${version}, write "## ${version} (YYYY-MM-DD)", the day of the release.`,
  );
if (day > nextMinorReleases)
  refuse(
    `PostgreSQL planned new minor releases for ${nextMinorReleases}: bring the table of src/checks/postgres/minor-outdated.ts and of its page up to date.`,
  );
const changed = changesSinceTests();
if (changed === null)
  refuse('Nothing is known of a green `npm run test:release` here: commit everything, then run it.');
else if (changed.length > 0)
  refuse(
    `Since the last green \`npm run test:release\` there are changes in ${changed.join(', ')}: run it again.`,
  );

function refuse(reason: string): void {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}

/**
 * The files that differ from the commit on which all stages were green, apart from the version, which `npm version` sets. Null if
 * there was none: `npm run test:release` writes the commit's hash into `dbvitals-release` of Git's folder.
 */
function changesSinceTests(): string[] | null {
  try {
    const record = readFileSync(git('rev-parse', '--git-path', 'dbvitals-release').trim(), 'utf8').trim();
    const files = git('diff', '--name-only', record).split('\n').filter(Boolean);
    return files.filter((file) => !isVersion(git('diff', '--unified=0', record, '--', file)));
  } catch {
    return null;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Whether a change of package.json, package-lock.json or Chart.yaml sets only the version. */
function isVersion(difference: string): boolean {
  const lines = difference.split('\n').filter((line) => /^[+-](?!\+\+ |-- )/.test(line));
  return lines.every((line) => /^[+-]\s*"?(?:version|appVersion)"?: "?[\w.-]+"?,?$/.test(line));
}
