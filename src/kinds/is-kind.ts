/**
 * Checks at run time that a value is a kind.
 */
import { isRecord } from '../util/json.js';
import type { Kind } from './kind.js';

/** True if the value is a kind; for callers without a type checker. */
export function isKind(value: unknown): value is Kind {
  return isRecord(value) && isRecord(value['names']) && typeof value['kind'] === 'string';
}
