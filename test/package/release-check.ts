import { readFileSync } from 'node:fs';

// Run by npm in the package's root. Says on standard error why the version may not be released, and exits with 1.
// `npm version` names the one that is to be; otherwise it is the one at hand.
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
