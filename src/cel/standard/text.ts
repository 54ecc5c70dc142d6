/** Functions of texts. */
import { re2Matches, re2Problem } from '../../text/re2/index.js';
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

/** What one step of a regular expression takes. */
const STEP = 20;

/** An expression of few characters may stand for many instructions: it is paid by what is done, not by its length. */
export function onRegexSteps(steps: number): void {
  spend(steps * STEP);
}

export function matches(text: CelValue, pattern: CelValue): Result {
  if (typeof text !== 'string') return missingOperator('matches', text);
  if (typeof pattern !== 'string') return NO_SUCH_OVERLOAD;
  const problem = re2Problem(pattern, { onSteps: onRegexSteps });
  if (problem !== undefined) return new Failure(problem);
  return re2Matches(pattern, text, { onSteps: onRegexSteps });
}
