/**
 * `fieldsV1` as a client sent it → a set in canonical form. What we wrote ourselves needs no reading: it is the set.
 * spec: Server-side apply
 */
import { isRecord } from '../../util/json.js';
import { type FieldSet, hasBelow, isMember, LEAF, NOTHING, SELF, Siblings, withSelf } from './field-set.js';
import { PathElementError, parseElement } from './path-element.js';

/** What a client wrote is no set of fields. */
export class FieldsError extends Error {
  override readonly name = 'FieldsError';
}

/**
 * Throws {@link FieldsError}.
 *
 * @example
 * readFieldsV1({ 'f:data': { 'f:b': {}, 'f:a': {} } }) // { 'f:data': { 'f:a': {}, 'f:b': {} } }
 */
export function readFieldsV1(value: unknown): FieldSet {
  if (value === undefined || value === null) return NOTHING;
  try {
    return readNode(value, false, 0) ?? NOTHING;
  } catch (error) {
    if (error instanceof PathElementError) throw new FieldsError(error.message, { cause: error });
    throw error;
  }
}

/** Deeper than the fields of any object. */
const MAX_DEPTH = 1_000;

/** A node without any step that we know is a leaf, whatever it says. */
function readNode(value: unknown, isStep: boolean, depth: number): FieldSet | undefined {
  if (value === null) return LEAF;
  if (!isRecord(value)) throw new FieldsError('ReadObjectCB: expect { or n');
  if (depth > MAX_DEPTH) throw new FieldsError('exceeded max depth');
  const siblings = new Siblings(isStep && Object.hasOwn(value, SELF));
  for (const [text, inner] of Object.entries(value)) {
    if (text === SELF) continue;
    const element = parseElement(text);
    if (element === undefined) continue;
    const node = readNode(inner, true, depth + 1) ?? LEAF;
    const twin = siblings.get(element);
    siblings.add(element, twin === undefined ? node : united(twin, node));
  }
  const node = siblings.finish();
  return node ?? (isStep ? LEAF : undefined);
}

/** Of one step that was written twice, in two ways: what is below it is as it was written last. */
function united(first: FieldSet, last: FieldSet): FieldSet {
  if (!hasBelow(last)) return withSelf(first);
  return isMember(first) ? withSelf(last) : last;
}
