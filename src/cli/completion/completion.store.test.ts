import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { loadProgram } from '../../../test/house/write-commands.ts';
import { type CompletedCommand, completionScript, describeCommands } from './completion-scripts.ts';

const program = describeCommands(await loadProgram());
const script = completionScript('bash', program);

/** What bash offers for a line that ends at the cursor. */
function offers(...words: string[]): string[] {
  const asked = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dbvitals; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync('bash', ['-c', `${script}\n${asked}`, 'bash', 'dbvitals', ...words], {
    encoding: 'utf8',
  });
  return printed.split('\n').filter(Boolean);
}

test('bash completes commands, subcommands and options, and leaves values to the shell', () => {
  expect(offers('conn')).toEqual(['connection']);
  expect(offers('')).toEqual(expect.arrayContaining(['serve', 'apply', 'backup', 'completion']));
  expect(offers('alert', '')).toEqual(expect.arrayContaining(['rule', 'list', 'acknowledge']));
  expect(offers('alert', 'rule', 'ch')).toEqual(['change']);
  expect(offers('alert', 'rule', 'add', '--wh')).toEqual(['--when']);
  expect(offers('apply', '--file', '')).toEqual([]);
  expect(offers('connection', 'add', '--account', '1', '--ssh-k')).toEqual(['--ssh-key-file']);
  // The value of an option may be the name of a command.
  expect(offers('account', 'create', '--name', 'serve', '--pl')).toEqual(['--plan']);
});

test.each(['bash', 'zsh', 'fish'] as const)('the script of %s has every command and option', (shell) => {
  const text = completionScript(shell, program);
  const check = ({ path, below, options }: CompletedCommand) => {
    if (shell !== 'fish') expect(text).toContain(`'${path}')`);
    for (const { flag } of options) expect(text).toContain(shell === 'fish' ? `-l ${flag.slice(2)}` : flag);
    below.forEach(check);
  };
  check(program);
  const quotes = text.split("'").length - 1;
  expect(quotes % 2, 'a quote is open').toBe(0);
});

test('bash accepts the script', () => {
  execFileSync('bash', ['-n'], { input: script });
});
