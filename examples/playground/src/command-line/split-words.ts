/**
 * Splits a line into words as a shell does: blanks separate words, quotes group them, a backslash escapes the next
 * character. Variables, globs and pipes are not supported and rejected with an error.
 */

export interface Words {
  readonly words: readonly string[];
  /** Whether the line ends within its last word, which completion then continues. */
  readonly isOpen: boolean;
}

export class LineError extends Error {
  override readonly name = 'LineError';
}

/** Splits a line. Throws a LineError for an unclosed quote, unless `lenient` is set (the line is still being typed). */
export function splitWords(line: string, { lenient = false } = {}): Words {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let index = 0; index < line.length; index++) {
    const character = line[index] as string;
    if (quote !== '') {
      if (character === quote) quote = '';
      else if (character === '\\' && quote === '"' && /["\\$`]/.test(line[index + 1] ?? ''))
        word = (word ?? '') + line[++index];
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (character === '\\' && index + 1 < line.length) {
      word = (word ?? '') + line[++index];
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === '#' && word === undefined) {
      break;
    } else {
      if (/[|;&<>]/.test(character) && !lenient) {
        throw new LineError(
          `error: "${character}" is shell syntax, which is not supported. Quote it to pass it as text.`,
        );
      }
      word = (word ?? '') + character;
    }
  }
  if (quote !== '' && !lenient) throw new LineError(`error: unclosed quote ${quote}`);
  if (word !== undefined) words.push(word);
  return { words, isOpen: word !== undefined };
}
