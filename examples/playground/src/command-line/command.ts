/**
 * The interface between commands and their environment. A command is data (name, flags, help) and one function;
 * `interpreter.ts` finds it, parses its flags and prints the errors that it throws.
 */
import type { AppliedManifest } from 'orchplane';
import type { PodExecOptions } from 'orchplane/runtime';
import type { Arguments, FlagRule, FlagRules } from './flags.js';
import type { Resource, Resources } from './resources.js';
import type { Fetch, Identity, Server } from './server.js';

/** The environment of the command line: the page, or a test. */
export interface Shell {
  /** Sends one request to the cluster. Impersonation headers set the user. */
  readonly fetch: Fetch;
  /** Applies the documents of a text. The result contains failures. */
  apply(text: string, options: ApplyRequest): Promise<readonly AppliedManifest[]>;
  /** Runs a command in a container and resolves with its exit code. */
  exec(request: ExecRequest): Promise<number>;
  /** The text that `-f -` reads. */
  editorText(): string;
  openInEditor(text: string): void;
  namespace(): string;
  setNamespace(namespace: string): void;
  /** The user unless `--as` is given; without a user, the administrator. */
  identity(): Identity;
  /** The time on the cluster's clock, in milliseconds. */
  now(): number;
}

export interface ApplyRequest {
  readonly fieldManager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly identity: Identity;
}

export interface ExecRequest extends Pick<PodExecOptions, 'namespace' | 'container' | 'stdin' | 'onOutput' | 'signal'> {
  readonly pod: string;
  readonly command: readonly string[];
}

export interface CommandContext {
  readonly shell: Shell;
  readonly server: Server;
  readonly flags: Arguments;
  /** The arguments without flags and without the command's name. */
  readonly args: readonly string[];
  /** The namespace of `-n`, or the current one. */
  readonly namespace: string;
  readonly identity: Identity;
  /** Discovery, read at most once per line. */
  resources(): Promise<Resources>;
  print(text: string): void;
  /** Prints hints and warnings to the error stream. */
  note(text: string): void;
  readonly signal: AbortSignal;
  readonly input?: OpenInput | undefined;
}

/** Opens the input of the terminal, which shows the prompt before each line. Absent: there is nothing to type into. */
export type OpenInput = (prompt: string) => ReadableStream<Uint8Array>;

export interface Command {
  readonly name: string;
  /** Other names for it. */
  readonly aliases?: readonly string[];
  /** A one-line description. */
  readonly summary: string;
  /** The arguments after the name: `TYPE [NAME] [flags]`. */
  readonly usage: string;
  readonly flags: FlagRules;
  /** The values of the first argument if it is not a kind: `status`, `history`, … */
  readonly words?: readonly string[];
  /** The index of the argument that names a kind; absent if none does. */
  readonly kindAt?: number;
  /** The first argument is the name of a pod, or TYPE/NAME. */
  readonly namesPod?: boolean;
  readonly examples?: readonly string[];
  /** Returns the exit code; undefined means 0. Throws LineError or ServerError on failure. */
  run(context: CommandContext): Promise<number | undefined>;
}

const namespaceFlag: FlagRule = { type: 'text', short: 'n', help: 'the namespace' };

/** The flags of every command. */
export const COMMON_FLAGS: FlagRules = {
  namespace: namespaceFlag,
  as: { type: 'text', help: 'impersonate this user' },
  'as-group': { type: 'texts', help: 'impersonate a member of this group; can be repeated' },
  help: { type: 'switch', short: 'h', help: 'print the help of the command' },
};

export const OUTPUT_FLAG: FlagRule = {
  type: 'text',
  short: 'o',
  help: 'wide, yaml, json or name',
  values: ['wide', 'yaml', 'json', 'name'],
};

export const SELECTOR_FLAGS: FlagRules = {
  selector: { type: 'text', short: 'l', help: 'only objects with these labels: app=web,tier!=db' },
  'field-selector': { type: 'text', help: 'only objects with these fields: status.phase=Running' },
  'all-namespaces': { type: 'switch', short: 'A', help: 'in all namespaces' },
};

export const DRY_RUN_FLAG: FlagRule = {
  type: 'text',
  alone: 'client',
  help: 'none, client or server: do not store the result',
  values: ['none', 'client', 'server'],
};

/** An object that a line names. */
export interface Named {
  readonly resource: Resource;
  readonly name: string;
}
