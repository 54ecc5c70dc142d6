/**
 * JSON Patch (RFC 6902) with the behaviour of the reference server. fast-json-patch performs the edits; this file
 * handles what the server does differently: resolution of pointers, missing values, and which invalid operations are
 * accepted. It works on decoded values; the result is decoded and validated by the caller. Runs in the merge step of
 * the write path. spec: Media types and encodings
 */
// The default import: Node cannot see the named exports of the package's CommonJS entry.
import fastJsonPatch from 'fast-json-patch';
import { errors } from '../meta/errors.js';
import { ANYTHING, decodingFindings } from '../schema/findings.js';
import type { SchemaNode } from '../schema/schema-node.js';
import type { DuplicateKeys } from '../util/json.js';
import { deepEqual, isRecord, own, setOwn } from '../util/json.js';
import type { PatchDecodeOptions } from './merge-patch.js';
import { cannotUnmarshal, sortKeys } from './merge-patch.js';

/** Decoded path segments; none means the whole document. */
export type JsonPointer = readonly string[];

/** A valid operation. `value` is null if the client omitted it and the server accepts that. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: JsonPointer; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: JsonPointer }
  | { readonly op: 'move' | 'copy'; readonly from: JsonPointer; readonly path: JsonPointer };

/** A parsed patch. It can be applied again when an optimistic update is retried. */
export interface JsonPatch {
  readonly operations: readonly JsonPatchOperation[];
  /** Findings of strict decoding; the caller warns or rejects. Empty with `Ignore`. */
  readonly findings: readonly string[];
}

/** The maximum number of operations in one patch. */
export const MAX_OPERATIONS = 10_000;
/** The maximum number of bytes that the `copy` operations of one patch may add. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024;
/** How many list items the operations of one patch may move, by inserting or removing items before them. */
const MAX_MOVED_ITEMS = 100_000_000;

/** Options of parsing. */
export interface JsonPatchOptions extends PatchDecodeOptions {
  /** Duplicate keys of the body; they are reported as findings. */
  readonly duplicates?: DuplicateKeys | undefined;
}

/**
 * Parses a decoded body; null is a patch without operations.
 *
 * Throws 400 if the body has the wrong type, 413 for too many operations, 422 for an invalid operation.
 *
 * @example
 * parseJsonPatch([{ op: 'replace', path: '/data/k', value: 'v' }]).operations.length // 1
 */
export function parseJsonPatch(value: unknown, options: JsonPatchOptions = {}): JsonPatch {
  const strict = options.fieldValidation !== 'Ignore';
  if (value !== null && !Array.isArray(value)) throw decodeFailure(value, { strict, type: 'list' });
  const items: readonly unknown[] = value ?? [];
  // Two passes: a body that cannot be decoded is a 400 error even if an earlier operation is invalid.
  for (const item of items) checkTypes(item, strict);
  if (items.length > MAX_OPERATIONS) {
    throw errors.requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${items.length}`,
    );
  }
  return { operations: items.map(parseOperation), findings: strict ? findingsOf(items, options.duplicates) : [] };
}

/**
 * Applies all operations. Does not change its arguments; the result shares all parts that no operation opened. Keys of
 * opened objects are sorted, because the server prints the result in error messages; so a patch without effect returns
 * an equal document, but not always the same one.
 *
 * Throws 422 if any operation fails; the server does not report which one.
 *
 * @example
 * applyJsonPatch({ data: {} }, parseJsonPatch([{ op: 'add', path: '/data/k', value: 'v' }])) // { data: { k: 'v' } }
 */
export function applyJsonPatch(document: unknown, patch: JsonPatch, onFailure?: FailureListener): unknown {
  const draft = new Draft(document);
  for (const [index, operation] of patch.operations.entries()) {
    try {
      applyOperation(draft, operation);
    } catch (error) {
      onFailure?.(index, error);
      throw error;
    }
  }
  return draft.finish();
}

/** Gets the index of the operation that failed, and may throw another error. */
type FailureListener = (index: number, error: unknown) => void;

/** The Go types in decoding errors; strict decoding uses other types than plain decoding. */
const DECODED_AS = {
  list: { strict: '[]handlers.jsonPatchOp', plain: 'jsonpatch.Patch' },
  operation: { strict: 'handlers.jsonPatchOp', plain: 'jsonpatch.Operation' },
} as const;

function decodeFailure(
  value: unknown,
  as: { readonly strict: boolean; readonly type: keyof typeof DECODED_AS },
): Error {
  const { strict, plain } = DECODED_AS[as.type];
  if (!as.strict) return errors.badRequest(cannotUnmarshal(value, `Go value of type ${plain}`));
  return errors.badRequest(`error decoding patch: ${cannotUnmarshal(value, `Go value of type ${strict}`)}`);
}

/** Throws if the decoder rejects the types. Null decodes as an operation without fields. */
function checkTypes(item: unknown, strict: boolean): void {
  if (item === null) return;
  if (!isRecord(item)) throw decodeFailure(item, { strict, type: 'operation' });
  if (!strict) return;
  for (const key of Object.keys(item)) {
    const value = item[key];
    if (!STRING_FIELDS.has(key) || value === null || typeof value === 'string') continue;
    const complaint = cannotUnmarshal(value, `Go struct field jsonPatchOp.${key} of type string`);
    throw errors.badRequest(`error decoding patch: ${complaint}`);
  }
}

const STRING_FIELDS: ReadonlySet<string> = new Set(['op', 'path', 'from']);

/** The schema of an operation, for the detection of unknown and duplicate fields. */
const OPERATION: SchemaNode = {
  type: 'object',
  representation: 'struct',
  goName: 'jsonPatchOp',
  goType: 'handlers.jsonPatchOp',
  fields: new Map(
    ['op', 'path', 'from', 'value'].map((name) => [
      name,
      { name, node: ANYTHING, presence: 'pointer', required: false },
    ]),
  ),
  preserveUnknown: false,
  atomic: false,
};

function findingsOf(items: readonly unknown[], duplicates: DuplicateKeys | undefined): readonly string[] {
  const document = duplicates === undefined ? { value: items } : { value: items, duplicates };
  return decodingFindings(OPERATION, document).map((finding) => `json patch ${finding}`);
}

function parseOperation(item: unknown): JsonPatchOperation {
  const fields = isRecord(item) ? item : {};
  const op = own(fields, 'op');
  const path = parsePointer(own(fields, 'path'));
  const value = own(fields, 'value');
  // The server panics if the root is replaced without a value, or a missing key is tested without a value; here these
  // operations fail.
  const needsValue = op === 'test' || (op === 'replace' && path.length === 0);
  if (needsValue && value === undefined) throw invalidPatch();
  if (op === 'replace' || op === 'test') return { op, path, value: value ?? null };
  if (path.length === 0) throw invalidPatch();
  if (op === 'add') return { op, path, value: value ?? null };
  if (op === 'remove') return { op, path };
  if (op !== 'move' && op !== 'copy') throw invalidPatch();
  const from = parsePointer(own(fields, 'from'));
  if (from.length === 0) throw invalidPatch();
  return { op, from, path };
}

/** Text before the first slash is ignored. A pointer without a slash is invalid unless it is empty. */
function parsePointer(text: unknown): JsonPointer {
  if (typeof text !== 'string') throw invalidPatch();
  const [before, ...segments] = text.split('/');
  if (segments.length === 0 && before !== '') throw invalidPatch();
  return segments.map(fastJsonPatch.unescapePathComponent);
}

function applyOperation(draft: Draft, operation: JsonPatchOperation): void {
  if ('from' in operation) draft[operation.op](operation.from, operation.path);
  else if ('value' in operation) draft[operation.op](operation.path, operation.value);
  else draft.remove(operation.path);
}

type Container = unknown[] | Record<string, unknown>;

/** A location in a container of the draft: a key that may be absent, or an index (one past the end: append). */
type Location =
  | { readonly record: Record<string, unknown>; readonly key: string }
  | { readonly list: unknown[]; readonly index: number };

/**
 * A document that is being patched, copied on write. A container is copied when a pointer first passes through it, and
 * is owned from then on. Owned containers always form the top of the tree: a container that is not owned contains no
 * owned one.
 *
 * Worked example, `replace /a/b/0` on `{ a: { b: [1, 2], c: {…} }, d: {…} }`: the root, `a` and `b` are copied and
 * owned; `c` and `d` are still the document's. A second operation below `/a` copies only what it opens anew.
 */
class Draft {
  #root: unknown;
  readonly #owned = new Set<unknown>();
  #copiedBytes = 0;
  #movedItems = 0;

  constructor(document: unknown) {
    this.#root = isContainer(document) ? this.#own(document) : document;
  }

  /** The value at a pointer; a missing key reads as null, a missing index fails. */
  read(pointer: JsonPointer): unknown {
    return pointer.length === 0 ? this.#root : valueAt(this.#locate(pointer));
  }

  add(pointer: JsonPointer, value: unknown): void {
    const location = this.#locate(pointer, { insert: true });
    this.#countMoved(location);
    edit(location, 'add', value);
  }

  replace(pointer: JsonPointer, value: unknown): void {
    if (pointer.length > 0) edit(this.#locate(pointer), 'replace', value);
    // The server accepts null or a scalar as replacement of the whole document, and ignores it.
    else if (isContainer(value)) this.#root = this.#own(value);
  }

  remove(pointer: JsonPointer): void {
    const location = this.#locate(pointer);
    if ('record' in location && own(location.record, location.key) === undefined) throw invalidPatch();
    this.#countMoved(location);
    edit(location, 'remove');
  }

  /** The package's move is not used: it clones the overwritten value through JSON text. */
  move(from: JsonPointer, to: JsonPointer): void {
    const value = this.read(from);
    this.remove(from);
    this.add(to, value);
  }

  /**
   * The package's test is not used: it calls `hasOwnProperty` of the tested object and prints the document on failure.
   */
  test(pointer: JsonPointer, value: unknown): void {
    const present = this.read(pointer);
    if (!deepEqual(present, value)) throw invalidPatch();
    if (!isContainer(present)) return;
    // The server opens both values to compare them, so the compared value counts as opened recursively.
    const opened = this.#ownAll(present);
    if (pointer.length === 0) this.#root = opened;
    else edit(this.#locate(pointer), 'replace', opened);
  }

  copy(from: JsonPointer, to: JsonPointer): void {
    // The target may be inside of the copied value, which is then opened before it is copied.
    this.#locate(to, { insert: true });
    const value = this.read(from);
    // Copying null (present or missing) counts no bytes.
    if (value !== null) this.#countCopied(value);
    // An owned value may change later in one of its two places, so it is copied; other values are shared.
    this.add(to, this.#finished(value));
  }

  finish(): unknown {
    return this.#finished(this.#root);
  }

  /**
   * Adds the size of a value in the server's encoding. Throws as soon as there is too much: a value of a policy can contain
   * a large text thousands of times.
   */
  #countCopied(value: unknown): void {
    if (!isContainer(value)) this.#addCopied(typeof value === 'string' ? stringSize(value) : String(value).length);
    else {
      // Brackets and commas: the number of parts plus one, but at least two.
      const parts = Object.keys(value);
      this.#addCopied(Math.max(parts.length + 1, 2));
      for (const key of parts) {
        if (!Array.isArray(value)) this.#addCopied(stringSize(key) + 1);
        this.#countCopied((value as Record<string, unknown>)[key]);
      }
    }
  }

  #addCopied(bytes: number): void {
    this.#copiedBytes += bytes;
    if (this.#copiedBytes > MAX_COPIED_BYTES) throw invalidPatch();
  }

  /** Throws 413: thousands of changes at the start of a long list would take seconds. */
  #countMoved(location: Location): void {
    if ('list' in location) this.#movedItems += location.list.length - location.index;
    if (this.#movedItems > MAX_MOVED_ITEMS) {
      throw errors.requestTooLarge(`the operations of the JSON patch move more than ${MAX_MOVED_ITEMS} list items`);
    }
  }

  /**
   * Opens every container on the path and returns the location in the last one. `insert` allows an index past the end.
   */
  #locate(pointer: JsonPointer, options: { readonly insert?: boolean } = {}): Location {
    let container = this.#root;
    const last = pointer.length - 1;
    for (let depth = 0; depth < last; depth++) {
      const location = locationIn(container, pointer[depth] ?? '');
      const child = valueAt(location);
      container = isContainer(child) && !this.#owned.has(child) ? this.#own(child) : child;
      if (container !== child) edit(location, 'replace', container);
    }
    return locationIn(container, pointer[last] ?? '', options);
  }

  /** A shallow copy that may be changed. Spreading defines keys instead of assigning them, also `__proto__`. */
  #own(container: Container): Container {
    const copy = Array.isArray(container) ? [...container] : { ...container };
    this.#owned.add(copy);
    return copy;
  }

  /** Copies a container recursively. */
  #ownAll(value: unknown): unknown {
    if (!isContainer(value)) return value;
    const copy = this.#own(value) as Record<string, unknown>;
    for (const key of Object.keys(copy)) setOwn(copy, key, this.#ownAll(copy[key]));
    return copy;
  }

  /** Copies opened containers, with sorted keys; the rest is shared. */
  #finished(value: unknown): unknown {
    if (!isContainer(value) || !this.#owned.has(value)) return value;
    if (Array.isArray(value)) return value.map((item) => this.#finished(item));
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(value)) setOwn(copy, key, this.#finished(value[key]));
    return sortKeys(copy);
  }
}

function locationIn(container: unknown, segment: string, options: { readonly insert?: boolean } = {}): Location {
  if (Array.isArray(container)) return { list: container, index: indexIn(container.length, segment, options) };
  if (isRecord(container)) return { record: container, key: segment };
  throw invalidPatch();
}

/** Signs and leading zeros are accepted. A negative index counts from the end, so inserting at -1 appends. */
function indexIn(length: number, segment: string, options: { readonly insert?: boolean }): number {
  const indexCount = options.insert === true ? length + 1 : length;
  if (options.insert === true && segment === '-') return length;
  if (!/^[+-]?[0-9]+$/.test(segment)) throw invalidPatch();
  const number = Number(segment);
  const index = number < 0 ? number + indexCount : number;
  if (index < 0 || index >= indexCount) throw invalidPatch();
  return index;
}

function valueAt(location: Location): unknown {
  return 'record' in location ? (own(location.record, location.key) ?? null) : location.list[location.index];
}

/** Performs one edit with fast-json-patch. */
function edit(location: Location, op: 'add' | 'replace' | 'remove', value: unknown = null): void {
  // The package assigns keys; for `__proto__` that would set the prototype.
  if ('record' in location && location.key === '__proto__' && op !== 'remove') {
    setOwn(location.record, location.key, value);
    return;
  }
  const [target, key] =
    'record' in location ? [location.record, location.key] : [location.list, String(location.index)];
  const path = `/${fastJsonPatch.escapePathComponent(key)}`;
  const operation = op === 'remove' ? { op, path } : { op, path, value };
  // No validation (already done), in place (the container is owned), no restriction on key names (they are data).
  fastJsonPatch.applyOperation<Container>(target, operation, false, true, false);
}

function isContainer(value: unknown): value is Container {
  return Array.isArray(value) || isRecord(value);
}

const encoder = new TextEncoder();

/** The server writes `<`, `>`, `&` and the two Unicode line separators as six-byte escapes. */
function stringSize(text: string): number {
  const escapes = text.match(/[<>&]/g)?.length ?? 0;
  const separators = text.match(/[\u2028\u2029]/g)?.length ?? 0;
  return encoder.encode(JSON.stringify(text)).length + 5 * escapes + 3 * separators;
}

/** All operations fail with the same error: the server does not report the cause. */
function invalidPatch(): Error {
  return errors.genericServerResponse('Invalid');
}
