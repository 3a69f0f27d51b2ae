import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandsIn, pagePaths, splitWords } from '../support/page-commands.ts';
import { loadProgram } from './write-commands.ts';

const program = await loadProgram();

const PLACEHOLDERS: readonly [RegExp, string][] = [
  [/^\[|\]$/g, ''], // an option that may be left out
  [/^(\w+)(?:\|\w+)+$/, '$1'], // one of several words
  [/\b(?:ID|N|CELL)\b/g, '1'],
  [/^T$/, '90d'],
  [/^FROM$/, '2026-01-01'],
  [/^TO$/, '2026-03-31'],
  [/^URL$/, 'https://dbvitals.example.com'],
  [/^(?:5d1f…c09a|keys\.txt)$/, '5d'.repeat(32)],
  [/\$\(.*\)|\$\w+|…/g, 'text'],
];

/** A command line's words with an example in place of each placeholder. */
function filled(words: readonly string[]): string[] {
  return words.map((word, at) => {
    if (word === '…' && words[at - 1] === '--url')
      return words[0] === 'activity' ? 'https://dbvitals.example.com' : 'postgres://user@host/database';
    if (word === '…' && words[at - 1] === '--ssh') return 'user@host';
    if (word === '…' && words[at - 1] === '--public-key') return '5d'.repeat(32);
    return PLACEHOLDERS.reduce((text, [what, example]) => text.replace(what, example), word);
  });
}

/** The command that words name, and the words after its name. */
function resolve(words: readonly string[]): { command: Command; rest: string[] } {
  let [command, rest] = [program, [...words]];
  for (;;) {
    const below = command.commands.find(
      (one) => one.name() === rest[0] || one.aliases().includes(rest[0] ?? ''),
    );
    if (!below) return { command, rest };
    [command, rest] = [below, rest.slice(1)];
  }
}

/**
 * What is wrong with a command line; null if the parser accepts it. A mention within a sentence may leave out what is
 * required: it must name a command and options that exist.
 */
function problemOf(words: readonly string[], isMention: boolean): string | null {
  const { command, rest } = resolve(filled(words));
  if (['--help', '--version', 'help'].includes(rest[0] ?? '')) return null;
  // Of commands with subcommands, only one with arguments does something itself.
  if (command.commands.length > 0 && command.registeredArguments.length === 0)
    return isMention && rest.length === 0 ? null : `no command ${words.join(' ')}`;
  command.configureOutput({ outputError: () => {} });
  for (const option of command.options) command.setOptionValue(option.attributeName(), undefined);
  try {
    const { operands, unknown } = command.parseOptions(rest);
    if (unknown.length > 0) return `unknown option ${unknown[0]}`;
    const takes = command.registeredArguments;
    if (operands.length > takes.length) return `${operands.at(-1)} is one argument too many`;
    for (const [at, argument] of takes.entries()) {
      const operand = operands[at];
      if (operand !== undefined) argument.parseArg?.(operand, undefined);
      else if (argument.required && !isMention) return `${argument.name()} is missing`;
    }
    const missing = command.options.find(
      (one) => one.mandatory && command.getOptionValue(one.attributeName()) === undefined,
    );
    return missing && !isMention ? `${missing.long} is required` : null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return isMention && message.includes('argument missing') ? null : message;
  }
}

// Sentences of dbvitals about itself, in the log and at the start, and a word for all commands.
const NO_COMMAND = /^(?:is|starts|stops|has|COMMAND)$/;
// `npm run reference` writes it from the commands themselves.
const WRITTEN = 'docs/reference/commands.md';

test('every command line of every page is one that the program accepts', () => {
  const all = pagePaths()
    .filter((page) => page !== WRITTEN)
    .flatMap((page) => commandsIn(page))
    .filter(({ words }) => !NO_COMMAND.test(words[0] ?? ''));
  expect(all.length).toBeGreaterThan(90);
  const wrong = all.flatMap(({ page, line, words, isBlock }) => {
    const isMention = !isBlock && words.every((word) => /^[a-z][a-z-]*$/.test(word));
    const problem = problemOf(words, isMention);
    return problem === null ? [] : [`${page}:${line}: dbvitals ${words.join(' ')}: ${problem}`];
  });
  expect(wrong).toEqual([]);
});

const NAMES = program.commands.map((command) => command.name());

test('every command that a message or a sentence names exists, with the options that it names', () => {
  const src = join(import.meta.dirname, '../../src');
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
  );
  const quoted = new RegExp(`"(?:dbvitals )?((?:${NAMES.join('|')}) [a-z-][^"'\\n]*)"`, 'g');
  const coded = new RegExp(`\`(?:dbvitals )?((?:${NAMES.join('|')}) [a-z-][^\`\\n]*)\``, 'g');
  const mentions = [
    ...files.flatMap((name) =>
      [...readFileSync(join(src, name), 'utf8').matchAll(quoted)].map(([, text = '']) => [
        `src/${name}`,
        text,
      ]),
    ),
    ...pagePaths()
      .filter((page) => page.endsWith('.md'))
      .flatMap((page) =>
        [...readFileSync(join(src, '..', page), 'utf8').matchAll(coded)].map(([, text = '']) => [page, text]),
      ),
  ];
  expect(mentions.length).toBeGreaterThan(90);
  const wrong = mentions.flatMap(([place = '', text = '']) => {
    const words = splitWords(text.replace(/\$\{[^}]*\}/g, '1'));
    const problem = problemOf(words, true);
    return problem === null ? [] : [`${place}: ${text}: ${problem}`];
  });
  expect(wrong).toEqual([]);
});
