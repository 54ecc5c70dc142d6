/**
 * JSON Patches of webhooks and policies. They are applied like those of the patch verb, but the error message names the
 * operation that failed, in the words of the reference server's patch library.
 */
import { applyJsonPatch, type JsonPatchOperation, parseJsonPatch } from '../../merge/json-patch.js';
import { StatusError } from '../../meta/errors.js';
import { requireObjectLimits } from '../../protocol/value-limits.js';
import { quote } from '../../text/go/go-text.js';
import { isRecord, own } from '../../util/json.js';

/** An operation cannot be applied. */
export class PatchFailure extends Error {
  override readonly name = 'PatchFailure';
  /** A `test` operation failed. */
  readonly isTest: boolean;

  constructor(message: string, isTest: boolean, cause: unknown) {
    super(message, { cause });
    this.isTest = isTest;
  }
}

/** The operations of a patch. Throws a StatusError if it is not a list of operations. */
export function patchOperations(patch: unknown): readonly unknown[] {
  parseShape(patch);
  return Array.isArray(patch) ? patch : [];
}

function parseShape(patch: unknown): void {
  try {
    parseJsonPatch(patch, { fieldValidation: 'Ignore' });
  } catch (error) {
    // Invalid operations are reported when they are applied.
    if (!StatusError.is(error) || error.code !== 422) throw error;
  }
}

/** Applies the operations in order. Throws {@link PatchFailure}, or 413 if the result is too large. */
export function applyOperations(operations: readonly unknown[], document: unknown): unknown {
  const parsed: JsonPatchOperation[] = [];
  let invalid: unknown;
  for (const operation of operations) {
    try {
      parsed.push(...parseJsonPatch([operation], { fieldValidation: 'Ignore' }).operations);
    } catch (error) {
      // The operations before it may fail first.
      invalid = error;
      break;
    }
  }
  const apply = (count: number) => {
    const patch = { operations: parsed.slice(0, count), findings: [] };
    return applyJsonPatch(document, patch, (index, error) => {
      throw failureOf(operations[index], apply(index), error);
    });
  };
  const result = apply(parsed.length);
  if (invalid !== undefined) throw failureOf(operations[parsed.length], result, invalid);
  requireObjectLimits(result);
  return result;
}

type Operation = Readonly<Record<string, unknown>>;

const MISSING = 'missing value';
const INVALID_INDEX = 'invalid index referenced';

/** Returns other errors than those of operations unchanged. */
function failureOf(item: unknown, document: unknown, cause: unknown): unknown {
  if (!StatusError.is(cause) || cause.code !== 422) return cause;
  const operation = isRecord(item) ? item : {};
  const op = own(operation, 'op');
  const name = typeof op === 'string' ? op : 'unknown';
  const describe = DESCRIPTIONS[name];
  const why =
    describe?.(operation, document) ??
    (describe === undefined ? `Unexpected kind: ${name}` : `${name} operation failed`);
  return new PatchFailure(why, why.endsWith(TEST_FAILED), cause);
}

const TEST_FAILED = 'failed: test failed';

type Describe = (operation: Operation, document: unknown) => string | undefined;

/** Each follows the order of checks of the reference server; undefined: none of its checks fails. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  add: (operation, document) => changeProblem('add', operation, { document, problemAt: insertProblem }),
  remove: (operation, document) => changeProblem('remove', operation, { document, problemAt: removeProblem }),
  replace(operation, document) {
    const path = stringField(operation, 'path');
    if (path === undefined) return `replace operation failed to decode path: ${decodeProblem(operation, 'path')}`;
    const location = locate(document, path);
    if (location === undefined) return `replace operation does not apply: doc is missing path: ${path}: ${MISSING}`;
    if (accessProblem(location) === undefined) return undefined;
    return `replace operation does not apply: doc is missing key: ${path}: ${MISSING}`;
  },
  move(operation, document) {
    const { from = '', source, problem: missing } = sourceOf('move', operation, document);
    if (source === undefined) return missing;
    const problem = accessProblem(source) ?? removeProblem(source);
    if (problem !== undefined) return `error in move for path: '${source.key}': ${problem}`;
    return destinationProblem(operation, applyOperations([{ op: 'remove', path: from }], document), 'move');
  },
  copy(operation, document) {
    const { from, source, problem: missing } = sourceOf('copy', operation, document);
    if (source === undefined) return missing;
    const problem = accessProblem(source);
    if (problem !== undefined) return `error in copy for from: '${from}': ${problem}`;
    return destinationProblem(operation, document, 'copy');
  },
  test(operation, document) {
    const path = stringField(operation, 'path');
    if (path === undefined) return `test operation failed to decode path: ${decodeProblem(operation, 'path')}`;
    if (path === '') return `testing value  ${TEST_FAILED}`;
    const location = locate(document, path);
    if (location === undefined) return `test operation does not apply: is missing path: ${path}: ${MISSING}`;
    return (
      withContext(accessProblem(location), `error in test for path: '${path}'`) ??
      `testing value ${path} ${TEST_FAILED}`
    );
  },
};

function changeProblem(
  op: 'add' | 'remove',
  operation: Operation,
  { document, problemAt }: { readonly document: unknown; readonly problemAt: (at: Location) => string | undefined },
): string | undefined {
  const path = stringField(operation, 'path');
  if (path === undefined) return `${op} operation failed to decode path: ${MISSING}`;
  const location = locate(document, path);
  if (location === undefined) return `${op} operation does not apply: doc is missing path: "${path}": ${MISSING}`;
  return withContext(problemAt(location), `error in ${op} for path: '${path}'`);
}

/** The source of a move or a copy, or why there is none. */
function sourceOf(
  op: 'move' | 'copy',
  operation: Operation,
  document: unknown,
): { readonly from?: string; readonly source?: Location | undefined; readonly problem?: string } {
  const from = stringField(operation, 'from');
  if (from === undefined) {
    return { problem: `${op} operation failed to decode from: ${decodeProblem(operation, 'from')}` };
  }
  const problem = `${op} operation does not apply: doc is missing from path: ${from}: ${MISSING}`;
  return { from, source: locate(document, from), problem };
}

function destinationProblem(operation: Operation, document: unknown, op: 'move' | 'copy'): string | undefined {
  const path = stringField(operation, 'path');
  if (path === undefined) {
    const why = op === 'copy' ? MISSING : decodeProblem(operation, 'path');
    return `${op} operation failed to decode path: ${why}`;
  }
  const location = locate(document, path);
  if (location === undefined)
    return `${op} operation does not apply: doc is missing destination path: ${path}: ${MISSING}`;
  const context = op === 'move' ? `error in move for path: '${path}'` : 'error while adding value during copy';
  return withContext(insertProblem(location), context);
}

function withContext(problem: string | undefined, context: string): string | undefined {
  return problem === undefined ? undefined : `${context}: ${problem}`;
}

function stringField(operation: Operation, field: string): string | undefined {
  const value = own(operation, field);
  return typeof value === 'string' ? value : undefined;
}

function decodeProblem(operation: Operation, field: 'path' | 'from'): string {
  const value = own(operation, field);
  if (value === undefined || value === null) {
    return `${field === 'path' ? 'operation missing path field' : 'operation, missing from field'}: ${MISSING}`;
  }
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type string`;
}

interface Location {
  readonly container: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly key: string;
}

/** The container that holds the last step of a path; undefined if it cannot be reached. */
function locate(document: unknown, path: string): Location | undefined {
  const steps = path.split('/').map(unescapeStep);
  if (steps.length < 2) return undefined;
  let container = document;
  for (const step of steps.slice(1, -1)) {
    if (Array.isArray(container)) container = container[indexOf(step, container.length) ?? -1];
    else container = isRecord(container) ? own(container, step) : undefined;
  }
  if (!Array.isArray(container) && !isRecord(container)) return undefined;
  return { container, key: steps[steps.length - 1] ?? '' };
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

function indexOf(step: string, length: number): number | undefined {
  if (!/^[+-]?[0-9]+$/.test(step)) return undefined;
  const index = Number(step) < 0 ? Number(step) + length : Number(step);
  return index >= 0 && index < length ? index : undefined;
}

/** List items must exist; map keys need not. */
function accessProblem({ container, key }: Location): string | undefined {
  if (!Array.isArray(container) || indexOf(key, container.length) !== undefined) return undefined;
  return indexProblem(key);
}

function removeProblem(location: Location): string | undefined {
  const { container, key } = location;
  if (Array.isArray(container)) return accessProblem(location);
  if (Object.hasOwn(container, key)) return undefined;
  return `Unable to remove nonexistent key: ${key}: ${MISSING}`;
}

function insertProblem({ container, key }: Location): string | undefined {
  if (!Array.isArray(container) || key === '-' || indexOf(key, container.length + 1) !== undefined) return undefined;
  return /^[+-]?[0-9]+$/.test(key)
    ? indexProblem(key)
    : `value was not a proper array index: '${key}': ${indexProblem(key)}`;
}

function indexProblem(key: string): string {
  if (!/^[+-]?[0-9]+$/.test(key)) return `strconv.Atoi: parsing ${quote(key)}: invalid syntax`;
  return `Unable to access invalid index: ${Number(key)}: ${INVALID_INDEX}`;
}
