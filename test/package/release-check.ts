import { readFileSync } from 'node:fs';
import { nextMinorReleases } from '../../src/checks/postgres/minor-outdated.ts';

// npm runs this in the package's root. If the version must not be released, it prints the reason to standard error and
// exits with 1. `npm version` passes the new version; otherwise the current one is checked.
const manifest: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const version = process.env['npm_new_version'] ?? manifest.version;

const [heading = ''] = /^## .*$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
const [, named, day = ''] = /^## (\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? [];

if (named !== version || Number.isNaN(Date.parse(day))) {
  process.stderr.write(
    `CHANGELOG.md begins with "${heading}": to release ${version}, write "## ${version} (YYYY-MM-DD)", the day of the release.\n`,
  );
  process.exitCode = 1;
}

if (day > nextMinorReleases) {
  process.stderr.write(
    `PostgreSQL planned new minor releases for ${nextMinorReleases}: bring the table of src/checks/postgres/minor-outdated.ts and of its page up to date.\n`,
  );
  process.exitCode = 1;
}
