/**
 * Parses words into arguments and flags by a command's rules: `--name value`, `--name=value`, `-n value`, `-nvalue`,
 * several short flags in one word, and `--`, after which every word is an argument.
 */
import { LineError } from './split-words.js';

/**
 * - `text`: takes a value
 * - `texts`: takes comma-separated values and can be repeated
 * - `switch`: takes no value, but accepts `--name=false`
 */
export type FlagType = 'text' | 'texts' | 'switch';

export interface FlagRule {
  readonly type: FlagType;
  /** The one-letter form. */
  readonly short?: string;
  /** The value of a flag that is given without one: `--cascade`. */
  readonly alone?: string;
  readonly help: string;
  /** Values that completion offers. */
  readonly values?: readonly string[];
}

export type FlagRules = Readonly<Record<string, FlagRule>>;

export interface Arguments {
  readonly args: readonly string[];
  has(flag: string): boolean;
  text(flag: string): string | undefined;
  texts(flag: string): readonly string[];
  isOn(flag: string): boolean;
}

/** Parses words by rules. Throws a LineError with kubectl's message for an unknown flag. */
export function readFlags(words: readonly string[], rules: FlagRules): Arguments {
  const args: string[] = [];
  const given = new Map<string, string[]>();
  const add = (name: string, value: string) => given.set(name, [...(given.get(name) ?? []), value]);

  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word === '--') {
      args.push(...words.slice(index + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = word.slice(2, equals < 0 ? undefined : equals);
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
      if (rule === undefined) throw new LineError(`error: unknown flag: --${name}`);
      if (equals >= 0) add(name, word.slice(equals + 1));
      else if (rule.type === 'switch') add(name, 'true');
      else if (rule.alone !== undefined) add(name, rule.alone);
      else add(name, valueAfter(words, index++, `--${name}`));
    } else if (word.startsWith('-') && word !== '-') {
      index += readShort(word, { words, index, rules, add });
    } else {
      args.push(word);
    }
  }

  const last = (flag: string) => given.get(flag)?.at(-1);
  return {
    args,
    has: (flag) => given.has(flag),
    text: last,
    texts: (flag) => (given.get(flag) ?? []).flatMap((value) => value.split(',')).filter((value) => value !== ''),
    isOn: (flag) => isTrue(last(flag) ?? 'false', flag),
  };
}

interface ShortContext {
  readonly words: readonly string[];
  readonly index: number;
  readonly rules: FlagRules;
  readonly add: (name: string, value: string) => void;
}

/** Returns the number of following words that were consumed. */
function readShort(word: string, { words, index, rules, add }: ShortContext): number {
  for (let at = 1; at < word.length; at++) {
    const letter = word[at] as string;
    const found = Object.entries(rules).find(([, rule]) => rule.short === letter);
    if (found === undefined) throw new LineError(`error: unknown shorthand flag: '${letter}' in ${word}`);
    const [name, rule] = found;
    if (rule.type === 'switch') {
      add(name, 'true');
      continue;
    }
    const rest = word.slice(at + 1).replace(/^=/, '');
    if (rest !== '') {
      add(name, rest);
      return 0;
    }
    add(name, valueAfter(words, index, `'${letter}' in -${letter}`));
    return 1;
  }
  return 0;
}

function valueAfter(words: readonly string[], index: number, flag: string): string {
  const value = words[index + 1];
  if (value === undefined) throw new LineError(`error: flag needs an argument: ${flag}`);
  return value;
}

function isTrue(value: string, flag: string): boolean {
  if (['true', 't', '1', 'True', 'TRUE'].includes(value)) return true;
  if (['false', 'f', '0', 'False', 'FALSE'].includes(value)) return false;
  throw new LineError(
    `error: invalid argument "${value}" for "--${flag}" flag: strconv.ParseBool: parsing "${value}": invalid syntax`,
  );
}
