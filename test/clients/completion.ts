import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM } from '../support/shipped-flags.ts';
import { needPackages } from './debian.ts';
import type { SampleService } from './sample-service.ts';

/** What is typed before Tab, and what the line is then. */
const LINES: readonly [string, string][] = [
  ['dbvitals conn', 'connection'],
  ['dbvitals alert rule ch', 'alert rule change'],
  ['dbvitals alert rule add --wh', 'alert rule add --when'],
  ['dbvitals connection add --account 1 --ssh-k', 'connection add --account 1 --ssh-key-file'],
  // The value of an option may be the name of a command.
  ['dbvitals account create --name serve --pl', 'account create --name serve --plan'],
];

/** A shell in a terminal gets each line and Tab, and runs a function that shows what it was called with. */
const inZsh = (script: string) => `
zmodload zsh/zpty
zpty shell 'zsh -f -i'
zpty -w shell 'autoload -U compinit; compinit -u -D; source ${script}; dbvitals() { print -r -- "GOT<$*>" }; print REA""DY'
zpty -m -r shell out '*READY*'
for line in "$@"; do
  zpty -w -n shell "$line"$'\\t\\n'
  zpty -m -r shell out '*GOT<*>*'
  print -r -- \${\${out##*GOT<}%%>*}
done`;

/** fish says what it would offer: one for each of these lines. */
const inFish = (script: string) => `
source ${script}
for line in $argv
    set -l words (string split ' ' -- $line)
    set -l offers (complete -C $line | string replace --regex '\\t.*' '')
    echo (string join ' ' -- $words[2..-2] $offers)
end`;

/** The scripts of `dbvitals completion` for zsh and fish complete commands and options in these shells. */
export function completeInShells(service: SampleService): string[] {
  needPackages('fish', 'zsh');
  const folder = service.folder('completion');
  const typed = LINES.map(([line]) => line);
  const expected = LINES.map(([, line]) => line).join('\n');
  const run = (shell: 'zsh' | 'fish', flag: string, source: (script: string) => string) => {
    const script = join(folder, `${shell}-completion`);
    writeFileSync(script, spawnSync(process.execPath, [PROGRAM, 'completion', shell]).stdout);
    const runner = join(folder, `${shell}-runner`);
    writeFileSync(runner, source(script));
    const { stdout, stderr } = spawnSync(shell, [flag, runner, ...typed], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    const printed = stdout.replaceAll('\r', '').trim();
    return printed === expected && stderr === ''
      ? []
      : [`${shell} completed ${JSON.stringify(printed)} ${stderr}`];
  };
  return [...run('zsh', '-f', inZsh), ...run('fish', '--no-config', inFish)];
}
