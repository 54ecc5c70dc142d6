/**
 * Completion of a line: commands, kinds, names of objects, flags and their values.
 */
import { COMMON_FLAGS, type Command, type Shell } from './command.js';
import { commands } from './commands/index.js';
import { type FlagRules, readFlags } from './flags.js';
import { commandNamed, withoutProgram } from './interpreter.js';
import { listAt, textAt } from './json.js';
import { pathOf, Resources } from './resources.js';
import { Server, ServerError } from './server.js';
import { LineError, splitWords } from './split-words.js';

export interface Completion {
  /** The line with the unambiguous part of the completion added. */
  readonly line: string;
  /** The possible values of the last word; at most one if the completion is unambiguous. */
  readonly candidates: readonly string[];
}

const MAX_CANDIDATES = 200;

/**
 * Completes the end of a line. Reads the cluster where necessary; if the server rejects the read, it offers nothing.
 */
export async function completeLine(shell: Shell, line: string): Promise<Completion> {
  const { words, isOpen } = splitWords(line, { lenient: true });
  const typed = isOpen ? (words.at(-1) ?? '') : '';
  const before = withoutProgram(isOpen ? words.slice(0, -1) : words);
  const candidates = (await candidatesFor(shell, before, typed))
    .filter((candidate) => candidate.startsWith(typed))
    .slice(0, MAX_CANDIDATES);
  const common = commonStart(candidates);
  if (common === undefined || common.length < typed.length) return { line, candidates };
  const isSure = candidates.length === 1 && !/[=/]$/.test(common);
  const completed = line.slice(0, line.length - typed.length) + common + (isSure ? ' ' : '');
  return { line: completed, candidates };
}

async function candidatesFor(shell: Shell, before: readonly string[], typed: string): Promise<readonly string[]> {
  const [name, ...rest] = before;
  const names = [...commands.map((command) => command.name), 'help'];
  if (name === undefined) return names.sort();
  if (name === 'help') return names.sort();
  const command = commandNamed(name);
  if (command === undefined) return [];
  const rules = { ...COMMON_FLAGS, ...command.flags };
  try {
    return await argumentCandidates({ shell, command, rules }, rest, typed);
  } catch (error) {
    // An incomplete line can be invalid, and the user may lack permissions: offer nothing.
    if (error instanceof LineError || error instanceof ServerError) return [];
    throw error;
  }
}

interface CompletionContext {
  readonly shell: Shell;
  readonly command: Command;
  readonly rules: FlagRules;
}

async function argumentCandidates(
  context: CompletionContext,
  rest: readonly string[],
  typed: string,
): Promise<readonly string[]> {
  const { shell, command, rules } = context;
  const open = flagWithoutValue(rules, rest.at(-1));
  if (open !== undefined) return valuesOf(context, open);
  if (typed.startsWith('--') && typed.includes('=')) {
    const flag = typed.slice(2, typed.indexOf('='));
    return (await valuesOf(context, flag)).map((value) => `--${flag}=${value}`);
  }
  if (typed.startsWith('-')) {
    return Object.entries(rules)
      .map(([flag, { type }]) => (type === 'switch' ? `--${flag}` : `--${flag}=`))
      .sort();
  }
  const { args, text } = readFlags(rest, rules);
  if (args.length === 0 && command.words !== undefined) return command.words;
  if (command.kindAt === undefined || args.length < command.kindAt) return [];
  const namespace = text('namespace') ?? shell.namespace();
  const server = new Server(shell.fetch, { identity: shell.identity() });
  const resources = await Resources.discover(new Server(shell.fetch));
  const kind = args[command.kindAt];
  if (args.length === command.kindAt) {
    if (!typed.includes('/') && command.namesPod) return objectNames(server, { resources, type: 'pods', namespace });
    if (!typed.includes('/')) return kindNames(resources);
    const [type = ''] = typed.split('/');
    return (await objectNames(server, { resources, type, namespace })).map((each) => `${type}/${each}`);
  }
  return kind === undefined || kind.includes('/') ? [] : objectNames(server, { resources, type: kind, namespace });
}

/** The flag that the last word names, if it still needs a value. */
function flagWithoutValue(rules: FlagRules, word: string | undefined): string | undefined {
  if (word === undefined || !word.startsWith('-') || word.includes('=')) return undefined;
  const found = Object.entries(rules).find(([name, { short }]) => word === `--${name}` || word === `-${short}`);
  if (found === undefined || found[1].type === 'switch' || found[1].alone !== undefined) return undefined;
  return found[0];
}

async function valuesOf({ shell, rules }: CompletionContext, flag: string): Promise<readonly string[]> {
  if (flag !== 'namespace') return Object.hasOwn(rules, flag) ? (rules[flag]?.values ?? []) : [];
  const list = await new Server(shell.fetch, { identity: shell.identity() }).json({ path: '/api/v1/namespaces' });
  return listAt(list, 'items').map((item) => textAt(item, 'metadata', 'name'));
}

function kindNames(resources: Resources): readonly string[] {
  const listable = resources.preferred().filter(({ verbs }) => verbs.includes('list'));
  return [...new Set([...listable.map(({ name }) => name), 'all'])].sort();
}

async function objectNames(
  server: Server,
  { resources, type, namespace }: { readonly resources: Resources; readonly type: string; readonly namespace: string },
): Promise<readonly string[]> {
  const list = await server.json({ path: pathOf(resources.one(type), { namespace }) });
  return listAt(list, 'items').map((item) => textAt(item, 'metadata', 'name'));
}

function commonStart(texts: readonly string[]): string | undefined {
  const [first, ...others] = texts;
  if (first === undefined) return undefined;
  let length = first.length;
  for (const other of others) {
    let same = 0;
    while (same < length && first[same] === other[same]) same++;
    length = same;
  }
  return first.slice(0, length);
}
