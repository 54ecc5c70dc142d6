/**
 * The command `orchplane completion`: prints a script that completes commands, options and their values in a shell.
 */
import { type CommandDefinition, type CommandOption, defineCommand, UsageError } from './command.js';
import { COMMANDS } from './index.js';
import { HELP_OPTION } from './parse.js';

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export const command = defineCommand({
  usage: ['completion bash|zsh|fish'],
  summary:
    'Prints a completion script. For bash, add source <(orchplane completion bash) to ~/.bashrc, for zsh the same with zsh to ~/.zshrc after compinit; for fish, write it to ~/.config/fish/completions/orchplane.fish.',
  options: {},
  words: Object.keys(SHELLS),
  async run({ positionals }, { writeOut }) {
    const [shell = '', ...others] = positionals;
    if (!isShell(shell) || others.length > 0) throw new UsageError('completion takes bash, zsh or fish');
    writeOut(SHELLS[shell](await loadAll()));
    return 0;
  },
});

function isShell(text: string): text is keyof typeof SHELLS {
  return Object.hasOwn(SHELLS, text);
}

interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly words: readonly string[];
  readonly options: readonly (CommandOption & { readonly name: string })[];
}

async function loadAll(): Promise<readonly CompletedCommand[]> {
  const entries = Object.entries(COMMANDS);
  return Promise.all(
    entries.map(async ([name, { summary, load }]) => {
      const definition: CommandDefinition = (await load()).command;
      const options = Object.entries({ ...definition.options, ...HELP_OPTION });
      return {
        name,
        summary,
        words: definition.words ?? [],
        options: options.map(([option, described]) => ({ ...described, name: option })),
      };
    }),
  );
}

/** What completes the value of an option. */
function valueType({ type, choices, value }: CommandOption): 'none' | 'choices' | 'files' | 'folders' | 'text' {
  if (type === 'boolean') return 'none';
  if (choices !== undefined) return 'choices';
  return value === 'FILE' ? 'files' : value === 'DIR' ? 'folders' : 'text';
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const flagsOf = ({ options }: CompletedCommand): string => options.map(({ name }) => `--${name}`).join(' ');
  const values = commands.flatMap(({ name, options }) =>
    options.flatMap((option) => {
      const type = valueType(option);
      if (type === 'none') return [];
      const names = [`--${option.name}`, ...(option.short === undefined ? [] : [`-${option.short}`])];
      const result = {
        choices: `words='${option.choices?.join(' ')}'`,
        files: 'kind=file',
        folders: 'kind=directory',
        text: 'kind=none',
      };
      return [`    ${names.map((each) => `'${name} ${each}'`).join(' | ')}) ${result[type]} ;;`];
    }),
  );
  const rest = commands.map((each) => {
    const words = each.words.length === 0 ? '' : `; ((COMP_CWORD > 2)) || words='${each.words.join(' ')}'`;
    return `    ${each.name}) flags='${flagsOf(each)}'${words} ;;`;
  });
  return `# Completion of orchplane for bash.
_orchplane() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  local words= flags= kind=
  # bash splits --name=value into three words.
  if [[ $current == = ]]; then current=
  elif [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$current"))
    return
  fi
  case "$command $previous" in
${values.join('\n')}
  esac
  if [[ -z $words$kind ]]; then
    case $command in
${rest.map((line) => `  ${line}`).join('\n')}
    esac
    if [[ $current == -* ]]; then words=$flags; elif [[ -z $words ]]; then kind=file; fi
  fi
  case $kind in
    file) compopt -o filenames; COMPREPLY=($(compgen -f -- "$current")) ;;
    directory) compopt -o filenames; COMPREPLY=($(compgen -d -- "$current")) ;;
    none) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
  esac
}
complete -F _orchplane orchplane
`;
}

function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = commands.map(({ name, options, words }) => {
    const first = words.length === 0 ? [] : [`1:argument:(${words.join(' ')})`];
    const specs = [...options.flatMap(zshSpecs), ...first, '*:file:_files'].map((spec) => `        ${quoted(spec)}`);
    return `    ${name})\n      _arguments -s \\\n${specs.join(' \\\n')}\n      ;;`;
  });
  return `#compdef orchplane
# Completion of orchplane for zsh.
_orchplane() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _orchplane ]]; then _orchplane "$@"; else compdef _orchplane orchplane; fi
`;
}

/** The specifications of an option for _arguments, one for each of its names. */
function zshSpecs(option: CommandOption & { readonly name: string }): string[] {
  const { name, short, help, choices, implied, multiple } = option;
  const type = valueType(option);
  const action = { none: '', choices: `(${choices?.join(' ')})`, files: '_files', folders: '_files -/', text: ' ' }[
    type
  ];
  const suffix = `[${help.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  // After an equals sign only, or as the next word, too.
  const long = type === 'none' ? `--${name}` : implied === undefined ? `--${name}=` : `--${name}=-`;
  const value = type === 'none' ? '' : `${implied === undefined ? '' : ':'}:${option.value ?? 'value'}:${action}`;
  const repeat = multiple === true ? '*' : '';
  const names = [long, ...(short === undefined ? [] : [`-${short}${type === 'none' ? '' : '+'}`])];
  return names.map((each) => `${repeat}${each}${suffix}${value}`);
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, summary, options, words }) => {
    const inCommand = `complete -c orchplane -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c orchplane -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ...(words.length === 0 ? [] : [`${inCommand} -a ${quoted(words.join(' '))}`]),
      ...options.map((option) => `${inCommand} ${fishOption(option)}`),
    ];
  });
  return ['# Completion of orchplane for fish.', ...lines, ''].join('\n');
}

function fishOption(option: CommandOption & { readonly name: string }): string {
  const { name, short, help, choices, implied } = option;
  const needsValue = implied === undefined ? '-r' : '';
  const value = {
    none: '',
    choices: `${needsValue} -f -a ${quoted(choices?.join(' ') ?? '')}`,
    files: '-r -F',
    folders: "-r -f -a '(__fish_complete_directories)'",
    text: `${needsValue} -f`,
  }[valueType(option)];
  return [`-l ${name}`, short === undefined ? '' : `-s ${short}`, value.trim(), `-d ${quoted(help)}`]
    .filter((part) => part !== '')
    .join(' ');
}

/** A text in single quotes, which are written alike in the shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
