/** `find` and `findAll`: what a regular expression matches. */
import { re2FindAll, re2Problem } from '../../text/re2/index.js';
import { ArrayList } from '../evaluate/views.js';
import type { Library } from '../library.js';
import { onRegexSteps } from '../standard/text.js';
import { INT, listOf, STRING } from '../types.js';
import { CelError, type CelValue } from '../values.js';
import { declare, member } from './declare.js';
import { intOf, textOf } from './value-arguments.js';

const TEXTS = listOf(STRING);

export const REGEX: Library = {
  name: 'regex',
  functions: [
    declare(
      'find',
      member('string_find_string', [STRING, STRING], STRING, (text, pattern) => matches(text, pattern, 1n)[0] ?? ''),
    ),
    declare(
      'findAll',
      member('string_find_all_string', [STRING, STRING], TEXTS, (text, pattern) => found(text, pattern, -1n)),
      member('string_find_all_string_int', [STRING, STRING, INT], TEXTS, (text, pattern, limit) =>
        found(text, pattern, limit),
      ),
    ),
  ],
};

function found(text: CelValue, pattern: CelValue, limit: CelValue): ArrayList {
  return new ArrayList(matches(text, pattern, limit));
}

/** A limit below zero is none. */
function matches(text: CelValue, pattern: CelValue, limit: CelValue): readonly string[] {
  const problem = re2Problem(textOf(pattern), { onSteps: onRegexSteps });
  if (problem !== undefined) throw new CelError(`Illegal regex: ${problem}`);
  const most = Number(intOf(limit));
  return re2FindAll(textOf(pattern), textOf(text), {
    limit: most < 0 ? Number.POSITIVE_INFINITY : most,
    onSteps: onRegexSteps,
  });
}
