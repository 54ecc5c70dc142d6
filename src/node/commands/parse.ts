/**
 * Parses the arguments of a command with `util.parseArgs` of Node.
 */
import { parseArgs } from 'node:util';
import { type CommandInput, type CommandOptions, UsageError } from './command.js';

/** Every command has it. */
export const HELP_OPTION = { help: { type: 'boolean', short: 'h', help: 'print this help' } } as const;

/** The input of a command, or `help` if its help is requested. Throws UsageError. */
export function parseArguments<Options extends CommandOptions>(
  name: string,
  options: Options,
  args: readonly string[],
): CommandInput<Options> | 'help' {
  const { values, positionals } = parse(name, { ...options, ...HELP_OPTION }, args);
  if (values['help'] === true) return 'help';
  for (const [option, value] of Object.entries(values)) checkChoices(option, options[option]?.choices, value);
  return { values: values as CommandInput<Options>['values'], positionals };
}

function parse(name: string, options: CommandOptions, args: readonly string[]) {
  try {
    return parseArgs({ args: withImpliedValues(options, args), options, allowPositionals: true, strict: true });
  } catch (error) {
    // Keep only the first sentence; the rest explains how to pass arguments that begin with a dash.
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`${error.message.split(/\. |\n/, 1)[0]}; see "orchplane ${name} --help"`);
  }
}

/** Adds the implied values, so that all string options can be parsed alike. */
function withImpliedValues(options: CommandOptions, args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    const implied = arg.startsWith('--') && (end < 0 || index < end) ? options[arg.slice(2)]?.implied : undefined;
    return implied === undefined ? arg : `${arg}=${implied}`;
  });
}

function checkChoices(option: string, choices: readonly string[] | undefined, value: unknown): void {
  if (choices === undefined) return;
  for (const each of Array.isArray(value) ? value : [value]) {
    if (!choices.includes(String(each))) {
      throw new UsageError(`--${option} takes ${listed(choices)}, got "${each}"`);
    }
  }
}

/** `a, b or c` */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}
