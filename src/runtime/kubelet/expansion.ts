/**
 * References to variables in commands, arguments and variables of containers: `$(NAME)`.
 * upstream: third_party/forked/golang/expansion/expand.go
 */
import { own } from '../../util/json.js';
import { type MemoryShare, UNLIMITED } from '../files/file-tree.js';
import { SetupError } from './references.js';

/** What the variables, the command, the arguments and the paths of a container may have together: Linux allows 2 MiB. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** The same for all containers of a pod: a ConfigMap may be in the variables of thousands. */
const MAX_POD_LENGTH = 4 * MAX_LENGTH;
/** The same for all pods of a runtime. */
export const MAX_RUNTIME_LENGTH = 32 * MAX_LENGTH;
/** What a variable counts besides its name and its value: measured with Node 20, in objects of 5,000 to 110,000. */
const VARIABLE_LENGTH = 96;

/** The keys and values of a ConfigMap or Secret, and the length of all of them. */
export interface Variables {
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly length: number;
}

/** Limits the length of texts: variables that contain earlier ones several times grow exponentially. */
export class TextBudget {
  readonly #memory: MemoryShare;
  #used = 0;

  /** `memory`: what this container shares with others. */
  constructor(memory: MemoryShare = UNLIMITED) {
    this.#memory = memory;
  }

  /** The container does not run any more. Can be called twice. */
  release(): void {
    this.#memory.take(-this.#used);
    this.#used = 0;
  }

  /** Returns the value of a variable. Without values, there could be millions. */
  takeVariable(name: string, value: string): string {
    this.#take(name.length + VARIABLE_LENGTH);
    return this.take(value);
  }

  takeVariables(prefix: string, { entries, length }: Variables): void {
    this.#take(length + entries.length * (prefix.length + VARIABLE_LENGTH));
  }

  /** Returns the text. Throws SetupError if all texts together are too long. */
  take(text: string): string {
    this.#take(text.length);
    return text;
  }

  #take(length: number): void {
    if (this.#used + length > MAX_LENGTH)
      throw new SetupError(
        `argument list too long: the variables and arguments have more than ${MAX_LENGTH} characters`,
      );
    if (!this.#memory.take(length))
      throw new SetupError('argument list too long: the variables and arguments of other containers leave no room');
    this.#used += length;
  }
}

/** What the containers of a pod take from the share of their namespace. */
export function podTexts(memory: MemoryShare): MemoryShare {
  let used = 0;
  return {
    take: (length) => {
      const isTooLong = length > 0 && used + length > MAX_POD_LENGTH;
      if (isTooLong || !memory.take(length)) return false;
      used += length;
      return true;
    },
  };
}

/**
 * Replaces `$(NAME)`; `$$` is a dollar sign. `lookUp` returns undefined for unknown variables, whose references stay as
 * they are. Throws SetupError.
 */
export function expanded(text: string, lookUp: (name: string) => string | undefined, budget: TextBudget): string {
  let result = '';
  let from = 0;
  // Whether there is an end of a reference after the current place: it is looked for only once if there is none.
  let hasEnd = true;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at)) {
    const next = text[at + 1];
    const end = next === '(' && hasEnd ? text.indexOf(')', at) : -1;
    if (next === '(' && end === -1) hasEnd = false;
    if (next === '$') {
      result += budget.take(text.slice(from, at + 1));
      at += 2;
      from = at;
    } else if (end !== -1) {
      const value = lookUp(text.slice(at + 2, end));
      if (value !== undefined) {
        result += budget.take(text.slice(from, at)) + budget.take(value);
        from = end + 1;
      }
      at = end + 1;
    } else at++;
  }
  return result + budget.take(text.slice(from));
}

/** The limit of Linux. */
const MAX_PATH = 4_096;

/** Control characters in a path would be misunderstood by what mounts it. */
export function checkedPath(path: string): string {
  if (path.length > MAX_PATH) throw new SetupError(`file name too long: a path has more than ${MAX_PATH} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  if (/[\0-\x1f]/.test(path)) throw new SetupError(`the path ${JSON.stringify(path)} has control characters`);
  return path;
}

/** As in kubelet, all variables must exist. */
function expandedFully(text: string, env: Readonly<Record<string, string>>, budget: TextBudget): string {
  const lookUp = (name: string): string => {
    const value = own(env, name);
    if (value === undefined) throw new SetupError(`missing value for ${JSON.stringify(name)}`);
    return value;
  };
  return expanded(text, lookUp, budget);
}

/** The directory or file of a volume that a container mounts, without leading or trailing slash. */
export function subPathOf(
  { subPath, subPathExpr }: { readonly subPath: string; readonly subPathExpr: string | undefined },
  env: Readonly<Record<string, string>>,
  budget: TextBudget,
): string {
  const path = subPathExpr === undefined ? subPath : expandedFully(subPathExpr, env, budget);
  checkedPath(path);
  if (path.startsWith('/')) throw new SetupError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split('/').includes('..'))
    throw new SetupError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
  return path
    .split('/')
    .filter((part) => part !== '')
    .join('/');
}
