import { readFileSync, writeFileSync } from 'node:fs';
import { Command, type Option } from 'commander';

const PAGE = new URL('../../docs/reference/commands.md', import.meta.url);
const MARK = '<!-- Everything below is written by `npm run reference`. -->';

/** The page docs/reference/commands.md: keeps the text above its mark, and writes all commands below it. */
export async function commandsPage(): Promise<string> {
  const [byHand = ''] = readFileSync(PAGE, 'utf8').split(MARK);
  return `${byHand}${MARK}\n\n${groups(await loadProgram()).join('\n\n')}\n`;
}

let loaded: Promise<Command> | undefined;

/** The program with all its commands. */
export function loadProgram(): Promise<Command> {
  loaded ??= rememberProgram(); // main.ts is evaluated once
  return loaded;
}

/** Replaces the parser that main.ts calls, so that no command runs. */
async function rememberProgram(): Promise<Command> {
  const { parseAsync } = Command.prototype;
  let program: Command | undefined;
  Command.prototype.parseAsync = async function remember(this: Command) {
    program = this;
    return this;
  };
  try {
    await import('../../src/main.ts');
  } finally {
    Command.prototype.parseAsync = parseAsync;
  }
  if (!program) throw new Error('main.ts parses no command.');
  return program;
}

/** The section of each group in `--help`, with the sections of its commands. */
function groups(program: Command): string[] {
  const below = subcommands(program);
  const headings = new Set(below.map((command) => command.helpGroup()));
  return [...headings].flatMap((heading) => [
    `### ${heading.replace(':', '')}`,
    ...below.filter((command) => command.helpGroup() === heading).flatMap(sections),
  ]);
}

/** The sections of a command and of its subcommands. Of those with subcommands, only one with arguments does something itself. */
function sections(command: Command): string[] {
  const below = subcommands(command);
  const runs = below.length === 0 || command.registeredArguments.length > 0;
  return [...(runs ? [section(command)] : []), ...below.flatMap(sections)];
}

function subcommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help');
}

function section(command: Command): string {
  const help = command.createHelp();
  const rows = [
    ...help
      .visibleArguments(command)
      .map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ...help
      .visibleOptions(command)
      .filter(isOwn)
      .map((each) => [each.flags, optionText(command, each)]),
  ].map(([term = '', text = '']) => `| \`${term.replaceAll('|', '\\|')}\` | ${plain(text)} |`);
  const usage = help.commandUsage(command);
  return [
    `#### ${usage.replace(/ \[(?:options|FILE)\].*/, '')}`,
    sentence(plain(help.commandDescription(command))),
    `    ${usage}`,
    rows.length > 0 ? ['| option | |', '| --- | --- |', ...rows].join('\n') : '',
    plain(textAfter(command)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Options of every command, which the page lists only once. */
function isOwn({ long }: Option): boolean {
  return long !== '--json' && long !== '--help';
}

function optionText(command: Command, option: Option): string {
  const text = command.createHelp().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
}

/** The text of `--help` below the options. */
function textAfter(command: Command): string {
  let shown = '';
  command.configureOutput({ writeOut: (text) => (shown += text) });
  command.outputHelp();
  return shown.slice(command.helpInformation().length).trim();
}

/** Escapes text for Markdown. */
function plain(text: string): string {
  return text.replace(/[<>|*[\]\\]/g, '\\$&');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}

if (import.meta.main) writeFileSync(PAGE, await commandsPage());
