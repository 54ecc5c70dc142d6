/** Functions of texts. */
import { re2Matches, re2Problem } from '../../meta/re2.js';
import { spend } from '../effort.js';
import { Failure, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import type { CelValue } from '../values.js';
import { missingOperator } from './missing.js';

export function contains(text: CelValue, part: CelValue): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return NO_SUCH_OVERLOAD;
  spend(text.length);
  return text.includes(part);
}

export function startsWith(text: CelValue, prefix: CelValue): Result {
  return typeof text === 'string' && typeof prefix === 'string' ? text.startsWith(prefix) : NO_SUCH_OVERLOAD;
}

export function endsWith(text: CelValue, suffix: CelValue): Result {
  return typeof text === 'string' && typeof suffix === 'string' ? text.endsWith(suffix) : NO_SUCH_OVERLOAD;
}

/** A state at a character of a text. */
const STATE = 5;

export function matches(text: CelValue, pattern: CelValue): Result {
  if (typeof text !== 'string') return missingOperator('matches', text);
  if (typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  const problem = re2Problem(pattern);
  if (problem !== undefined) return new Failure(problem);
  // The text is walked once, in as many states as the expression has parts.
  spend((1 + text.length) * pattern.length * STATE);
  return re2Matches(pattern, text);
}
