/**
 * The help texts, made of the table of commands and of their options.
 */
import type { CommandDefinition, CommandOption, CommandOptions } from './command.js';
import { HELP_OPTION } from './parse.js';

const WIDTH = 80;
const INDENT = '  ';

/** The help of `orchplane --help`. */
export function overviewText(commands: Readonly<Record<string, { readonly summary: string }>>): string {
  const names = Object.keys(commands);
  const width = Math.max(...names.map((name) => name.length));
  return [
    'orchplane: a cluster control plane in one process',
    '',
    'Usage: orchplane COMMAND [options]',
    '',
    ...names.map((name) => `${INDENT}${name.padEnd(width)}  ${commands[name]?.summary}`),
    '',
    'orchplane COMMAND --help prints the options of a command, --version the version.',
    '',
  ].join('\n');
}

/** The help of a command. */
export function commandText({ usage, summary, options }: CommandDefinition): string {
  const all: CommandOptions = { ...options, ...HELP_OPTION };
  const sections = new Map<string, string[]>();
  for (const [name, option] of Object.entries(all)) {
    const { section = 'Options' } = option;
    sections.set(section, [...(sections.get(section) ?? []), ...optionLines(name, option)]);
  }
  return [
    ...usage.map((line, index) => `${index === 0 ? 'Usage:' : '      '} orchplane ${line}`),
    '',
    ...wrapped(summary, WIDTH),
    ...[...sections].flatMap(([title, lines]) => ['', title, ...lines]),
    '',
  ].join('\n');
}

/** The column at which the explanations start. */
const EXPLANATIONS = 26;

function optionLines(name: string, option: CommandOption): string[] {
  const explanation = wrapped(option.help, WIDTH - EXPLANATIONS);
  const term = `${INDENT}${optionTerm(name, option)}`;
  const isLong = term.length > EXPLANATIONS - 2;
  const lines = explanation.map((line) => ' '.repeat(EXPLANATIONS) + line);
  return isLong ? [term, ...lines] : [term.padEnd(EXPLANATIONS) + explanation[0], ...lines.slice(1)];
}

/** `-o, --output json|yaml`, `--wait[=BOOL]` */
function optionTerm(name: string, { short, value, choices, implied }: CommandOption): string {
  const placeholder = choices?.join('|') ?? value;
  const suffix = implied === undefined ? ` ${placeholder}` : `[=${placeholder}]`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${placeholder === undefined ? '' : suffix}`;
}

/** The lines of a text; words are never cut. */
function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
