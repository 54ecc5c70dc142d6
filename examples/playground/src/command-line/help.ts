/**
 * The help texts of commands.
 */
import { COMMON_FLAGS, type Command } from './command.js';
import type { FlagRules } from './flags.js';

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`);
  return [
    'A command line for the cluster of this page, with the most used commands of kubectl.',
    '',
    ...lines,
    '',
    'Tab completes, the arrow keys browse the history, Ctrl+C stops a watch, Ctrl+L clears.',
    '"help COMMAND" prints details. "-f -" reads the text of the editor.',
  ].join('\n');
}

export function commandHelp({ name, summary, usage, flags, examples = [] }: Command): string {
  const lines = [`${summary}.`, '', 'Usage:', `  ${name} ${usage}`];
  if (examples.length > 0) lines.push('', 'Examples:', ...examples.map((example) => `  ${example}`));
  if (Object.keys(flags).length > 0) lines.push('', 'Flags:', ...flagLines(flags));
  lines.push('', 'Flags of all commands:', ...flagLines(COMMON_FLAGS));
  return lines.join('\n');
}

function flagLines(flags: FlagRules): string[] {
  const rows = Object.entries(flags).map(([name, { short, type, help }]) => {
    const value = type === 'switch' ? '' : type === 'texts' ? '=VALUE,…' : '=VALUE';
    return [`  ${short === undefined ? '    ' : `-${short}, `}--${name}${value}`, help] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, help]) => `${left.padEnd(width)}   ${help}`);
}
