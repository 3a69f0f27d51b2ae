import type { Command } from 'commander';

/** What can follow a command: its subcommands and options. */
export interface CompletedCommand {
  /** The words of the command, such as `alert rule`; '' = the program. */
  path: string;
  description: string;
  below: readonly CompletedCommand[];
  options: readonly CompletedOption[];
}

interface CompletedOption {
  flag: string;
  description: string;
  /** Whether a value follows. */
  takesValue: boolean;
  /** Whether the value is a file or folder. */
  isFile: boolean;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** All commands of a program with what follows each. */
export function describeCommands(command: Command, path = ''): CompletedCommand {
  const help = command.createHelp();
  return {
    path,
    description: oneLine(help.subcommandDescription(command)),
    below: help
      .visibleCommands(command)
      .filter((each) => each.name() !== 'help')
      .map((each) => describeCommands(each, `${path} ${each.name()}`.trim())),
    options: help.visibleOptions(command).flatMap((option) => {
      const flag = option.long;
      if (!flag) return [];
      const isFile = /<(?:FILE|DIR|FOLDER)>/.test(option.flags);
      return [{ flag, description: oneLine(option.description), takesValue: option.required, isFile }];
    }),
  };
}

/** The script that a shell reads to complete the program's commands and options. */
export function completionScript(shell: Shell, program: CompletedCommand): string {
  const commands = flatten(program);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](commands);
}

function flatten(command: CompletedCommand): CompletedCommand[] {
  return [command, ...command.below.flatMap(flatten)];
}

const nameOf = ({ path }: CompletedCommand) => path.split(' ').at(-1) ?? '';

function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = (of: (command: CompletedCommand) => readonly string[]) =>
    commands.map((command) => `    '${command.path}') echo '${of(command).join(' ')}' ;;`).join('\n');
  const flags = (command: CompletedCommand, which: (option: CompletedOption) => boolean) =>
    command.options.filter(which).map(({ flag }) => flag);
  return `# dbvitals completion bash
_dbvitals_commands() {
  case "$1" in
${cases(({ below }) => below.map(nameOf))}
  esac
}
_dbvitals_options() {
  case "$1" in
${cases((command) => flags(command, () => true))}
  esac
}
_dbvitals_values() {
  case "$1" in
${cases((command) => flags(command, ({ takesValue }) => takesValue))}
  esac
}
_dbvitals() {
  local word path='' current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ " $(_dbvitals_commands "$path") " == *" $word "* ]] && path="\${path:+$path }$word"
  done
  COMPREPLY=()
  # The value of an option: the shell completes files.
  [[ $previous == --* && " $(_dbvitals_values "$path") " == *" $previous "* ]] && return
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$(_dbvitals_options "$path")" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$(_dbvitals_commands "$path")" -- "$current"))
  fi
}
complete -o default -F _dbvitals dbvitals
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const item = (name: string, description: string) => quoted(`${name.replaceAll(':', '\\:')}:${description}`);
  const cases = commands
    .map((command) => {
      const below = command.below.map((each) => item(nameOf(each), each.description));
      const options = command.options.map(({ flag, description }) => item(flag, description));
      const values = command.options.filter(({ takesValue }) => takesValue).map(({ flag }) => flag);
      return `    '${command.path}')
      commands=(${below.join(' ')})
      options=(${options.join(' ')})
      values=(${values.join(' ')}) ;;`;
    })
    .join('\n');
  return `#compdef dbvitals
# dbvitals completion zsh
_dbvitals_at() {
  case "$1" in
${cases}
  esac
}
_dbvitals() {
  local path_words='' word
  local -a commands options values
  _dbvitals_at ''
  for word in \${words[2,CURRENT-1]}; do
    if (( \${commands[(I)\${(b)word}:*]} )); then
      path_words="\${path_words:+$path_words }$word"
      _dbvitals_at "$path_words"
    fi
  done
  if (( \${values[(Ie)\${words[CURRENT-1]}]} )); then _files; return; fi
  if [[ \${words[CURRENT]} == -* ]]; then _describe option options
  elif (( $#commands )); then _describe command commands
  else _files; fi
}
if [[ $funcstack[1] == _dbvitals ]]; then _dbvitals "$@"; else compdef _dbvitals dbvitals; fi
`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const names = command.below.map(nameOf).join(' ');
    const at = `-n "__dbvitals_at '${command.path}' '${names}'"`;
    return [
      ...command.below.map(
        (each) => `complete -c dbvitals ${at} -f -a ${nameOf(each)} -d ${quoted(each.description)}`,
      ),
      ...command.options.map(({ flag, description, takesValue, isFile }) => {
        const value = takesValue ? (isFile ? ' -r -F' : ' -x') : '';
        return `complete -c dbvitals ${at} -l ${flag.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return `# dbvitals completion fish
# Whether the words before the cursor are this command and none below it.
function __dbvitals_at
    set -l typed (string match --invert -- '-*' (commandline -opc))
    set -e typed[1]
    set -l length (count (string split --no-empty ' ' -- $argv[1]))
    if test $length -gt 0
        test "$typed[1..$length]" = $argv[1]; or return 1
    end
    set -l next (math $length + 1)
    if test (count $typed) -ge $next
        contains -- $typed[$next] (string split --no-empty ' ' -- $argv[2]); and return 1
    end
    return 0
end
${lines.join('\n')}
`;
}

/** A text in single quotes. No text of a command holds a line break. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('\\', '').trim();
}
