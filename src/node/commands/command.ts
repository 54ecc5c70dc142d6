/**
 * What a command of `orchplane` consists of. The options of a command define how its arguments are parsed, its help and its
 * shell completion.
 */

/** An invalid command line; the message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option of a command, for parseArgs, help and completion. */
export interface CommandOption {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: true;
  /** The placeholder of the value in the help: FILE, DIR, NAME. */
  readonly value?: string;
  /** The allowed values, checked by the framework and offered by completion. */
  readonly choices?: readonly string[];
  /** The value of a string option that is given without one; a value is then given after `=` only. */
  readonly implied?: string;
  /** The command writes this file; `text`: `-` is standard output. Absent: a FILE is read. */
  readonly writes?: 'file' | 'text';
  /** The environment variable that names the file if the option is absent. */
  readonly variable?: string;
  /** The heading in the help under which the option is listed; absent: `Options`. */
  readonly section?: string;
  readonly help: string;
}

export type CommandOptions = Readonly<Record<string, CommandOption>>;

/** The type of an option's value. */
type ValueOf<Option extends CommandOption> = Option extends { readonly type: 'boolean' }
  ? boolean
  : Option extends { readonly multiple: true }
    ? readonly TextOf<Option>[]
    : TextOf<Option>;

type TextOf<Option> = Option extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;

/** The values of the options that were given. */
export type CommandValues<Options extends CommandOptions> = {
  readonly [Name in keyof Options]?: ValueOf<Options[Name]> | undefined;
};

export interface CommandInput<Options extends CommandOptions = CommandOptions> {
  readonly values: CommandValues<Options>;
  readonly positionals: readonly string[];
}

/** The process environment of a command. */
export interface CommandEnvironment {
  readonly version: string;
  readonly stdin: NodeJS.ReadableStream;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether the streams are terminals: only then they get colours and progress bars. */
  readonly isTerminal: { readonly out: boolean; readonly error: boolean };
  /** Environment variables. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Resolves to the signal when the command is to stop. From the first call on, the first signal does not end the process. */
  readonly untilStopped: () => Promise<NodeJS.Signals>;
  /** The same for a command that only prints: it also resolves when the reader of standard output has exited. */
  readonly untilUnread: () => Promise<void>;
  /** False: a program has started it, which needs neither a banner nor the kubeconfig that the banner names. */
  readonly hasBanner: boolean;
}

export interface CommandDefinition {
  /** The usage lines without the program name: `apply -f FILE [options]`. */
  readonly usage: readonly string[];
  /** What the command does: some sentences below the usage. */
  readonly summary: string;
  readonly options: CommandOptions;
  /** Words that completion offers as the first argument; absent: files, which it also offers as further arguments. */
  readonly words?: readonly string[];
  /** False: the arguments are not files. */
  readonly readsArguments?: false;
  /** Returns the exit code. Throws UsageError (or another Error) for one line on standard error and exit code 2. */
  run(input: CommandInput, environment: CommandEnvironment): Promise<number>;
}

/** Throws UsageError if one of `names` is given although `option` is. */
export function refuseBeside<Name extends string>(
  option: string,
  values: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): void {
  const other = names.find((name) => values[name] !== undefined);
  if (other !== undefined) throw new UsageError(`${option} and --${other} contradict each other`);
}

/** Throws UsageError if one of `names` is given, which have an effect only with another option. */
export function refuseWithout<Name extends string>(
  option: string,
  values: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): void {
  const other = names.find((name) => values[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} needs ${option}`);
}

/** A definition whose `values` have the types of its options. */
interface TypedDefinition<Options extends CommandOptions> extends Omit<CommandDefinition, 'options' | 'run'> {
  readonly options: Options;
  run(input: CommandInput<Options>, environment: CommandEnvironment): Promise<number>;
}

/** Infers the types of `values` from `options`. */
export function defineCommand<const Options extends CommandOptions>(
  definition: TypedDefinition<Options>,
): CommandDefinition {
  return definition;
}

/** The value of `--port`. Throws UsageError. */
export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 to 65535, got "${text}"`);
}

/** The value of `--host`. Throws UsageError for an empty one, for which Node listens on all addresses. */
export function readHost(text: string | undefined): string | undefined {
  if (text === '') throw new UsageError('--host takes an address, such as 127.0.0.1');
  return text;
}
