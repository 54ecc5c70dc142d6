/**
 * Kinds that somebody hands over, for who has no compiler to say so.
 */
import { isRecord } from '../util/json.js';
import type { Kind } from './kind.js';

export function isKind(value: unknown): value is Kind {
  return isRecord(value) && isRecord(value['names']) && typeof value['kind'] === 'string';
}
