/**
 * The contract of this folder: what a command is given and what it may do. A command is data (name, flags, words of help)
 * and one function; `interpreter.ts` finds it, reads its flags and prints what it throws.
 */
import type { AppliedManifest } from 'orchplane';
import type { Arguments, FlagRule, FlagRules } from './flags.js';
import type { Resource, Resources } from './resources.js';
import type { Fetch, Identity, Server } from './server.js';

/** The world around the command line: the page, or a test. */
export interface Shell {
  /** One request to the cluster. Impersonation headers say who asks. */
  readonly fetch: Fetch;
  /** Applies the documents of a text; failures are part of the report. */
  apply(text: string, options: ApplyRequest): Promise<readonly AppliedManifest[]>;
  /** What `-f -` reads. */
  editorText(): string;
  openInEditor(text: string): void;
  namespace(): string;
  setNamespace(namespace: string): void;
  /** Who asks unless `--as` says otherwise; without a user: the administrator. */
  identity(): Identity;
  /** On the cluster's clock, in milliseconds. */
  now(): number;
}

export interface ApplyRequest {
  readonly fieldManager: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly namespace: string;
  readonly identity: Identity;
}

export interface CommandContext {
  readonly shell: Shell;
  readonly server: Server;
  readonly flags: Arguments;
  /** What stands in the line beside flags, after the command's own name. */
  readonly args: readonly string[];
  /** Of `-n`, or the present one. */
  readonly namespace: string;
  readonly identity: Identity;
  /** Read at most once for each line. */
  resources(): Promise<Resources>;
  print(text: string): void;
  /** What goes to the second stream: hints and warnings. */
  note(text: string): void;
  readonly signal: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** Other names for it. */
  readonly aliases?: readonly string[];
  /** One line. */
  readonly summary: string;
  /** What follows the name: `TYPE [NAME] [flags]`. */
  readonly usage: string;
  readonly flags: FlagRules;
  /** Words of the first argument, where it is not a kind: `status`, `history`, … */
  readonly words?: readonly string[];
  /** Which argument names a kind, counted from zero; absent: none does. */
  readonly kindAt?: number;
  readonly examples?: readonly string[];
  /** The exit code; nothing means 0. Throws LineError or ServerError for what goes wrong. */
  run(context: CommandContext): Promise<number | undefined>;
}

const namespaceFlag: FlagRule = { type: 'text', short: 'n', help: 'the namespace' };

/** Every command has these. */
export const COMMON_FLAGS: FlagRules = {
  namespace: namespaceFlag,
  as: { type: 'text', help: 'ask as this user' },
  'as-group': { type: 'texts', help: 'ask as a member of this group; may stand several times' },
  help: { type: 'switch', short: 'h', help: 'how the command is used' },
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
  help: 'none, client or server: do everything but store it',
  values: ['none', 'client', 'server'],
};

/** An object, by what a line says of it. */
export interface Named {
  readonly resource: Resource;
  readonly name: string;
}
