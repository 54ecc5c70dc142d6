/**
 * JSON Patches that are not a client's: of a webhook, or of a policy. They are applied as the patch verb applies its own,
 * but whoever wrote them is told what is wrong with them, where a client is told nothing. Operations are applied one by
 * one, so that the one that fails can be named.
 */
import { applyJsonPatch, parseJsonPatch } from '../../merge/json-patch.js';
import { StatusError } from '../../meta/errors.js';
import { quote } from '../../text/go/go-text.js';
import { isRecord, own } from '../../util/json.js';

/** An operation that cannot be applied. */
export class PatchFailure extends Error {
  override readonly name = 'PatchFailure';
  /** A `test` found something else. */
  readonly isTest: boolean;

  constructor(message: string, isTest: boolean, cause: unknown) {
    super(message, { cause });
    this.isTest = isTest;
  }
}

/** The operations of a patch, as far as they are operations at all. Throws a StatusError whose message says why not. */
export function operationsIn(patch: unknown): readonly unknown[] {
  // Without this word the decoder's own types would be named.
  parseShape(patch);
  return Array.isArray(patch) ? patch : [];
}

function parseShape(patch: unknown): void {
  try {
    parseJsonPatch(patch, { fieldValidation: 'Ignore' });
  } catch (error) {
    // Operations that make no sense are found when their turn comes.
    if (!StatusError.is(error) || error.code !== 422) throw error;
  }
}

/** The document after all operations. Throws {@link PatchFailure}. */
export function applyOperations(operations: readonly unknown[], document: unknown): unknown {
  let result = document;
  for (const operation of operations) {
    const before = result;
    try {
      result = applyJsonPatch(before, parseJsonPatch([operation], { fieldValidation: 'Ignore' }));
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      throw failureOf(isRecord(operation) ? operation : {}, before, error);
    }
  }
  return result;
}

type Operation = Readonly<Record<string, unknown>>;

const MISSING = 'missing value';
const INVALID_INDEX = 'invalid index referenced';

function failureOf(operation: Operation, document: unknown, cause: unknown): PatchFailure {
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

/** In the order in which the reference server finds things out; undefined: it would not have failed there. */
const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  add(operation, document) {
    const path = textIn(operation, 'path');
    if (path === undefined) return `add operation failed to decode path: ${MISSING}`;
    const place = placeOf(document, path);
    if (place === undefined) return `add operation does not apply: doc is missing path: "${path}": ${MISSING}`;
    return within(insertProblem(place), `error in add for path: '${path}'`);
  },
  remove(operation, document) {
    const path = textIn(operation, 'path');
    if (path === undefined) return `remove operation failed to decode path: ${MISSING}`;
    const place = placeOf(document, path);
    if (place === undefined) return `remove operation does not apply: doc is missing path: "${path}": ${MISSING}`;
    return within(removeProblem(place), `error in remove for path: '${path}'`);
  },
  replace(operation, document) {
    const path = textIn(operation, 'path');
    if (path === undefined) return within(unreadable(operation, 'path'), 'replace operation failed to decode path');
    const place = placeOf(document, path);
    if (place === undefined) return `replace operation does not apply: doc is missing path: ${path}: ${MISSING}`;
    if (accessProblem(place) === undefined) return undefined;
    return `replace operation does not apply: doc is missing key: ${path}: ${MISSING}`;
  },
  move(operation, document) {
    const from = textIn(operation, 'from');
    if (from === undefined) return within(unreadable(operation, 'from'), 'move operation failed to decode from');
    const source = placeOf(document, from);
    if (source === undefined) return `move operation does not apply: doc is missing from path: ${from}: ${MISSING}`;
    const problem = accessProblem(source) ?? removeProblem(source);
    if (problem !== undefined) return `error in move for path: '${source.key}': ${problem}`;
    return arrival(operation, applyOperations([{ op: 'remove', path: from }], document), 'move');
  },
  copy(operation, document) {
    const from = textIn(operation, 'from');
    if (from === undefined) return within(unreadable(operation, 'from'), 'copy operation failed to decode from');
    const source = placeOf(document, from);
    if (source === undefined) return `copy operation does not apply: doc is missing from path: ${from}: ${MISSING}`;
    const problem = accessProblem(source);
    if (problem !== undefined) return `error in copy for from: '${from}': ${problem}`;
    return arrival(operation, document, 'copy');
  },
  test(operation, document) {
    const path = textIn(operation, 'path');
    if (path === undefined) return within(unreadable(operation, 'path'), 'test operation failed to decode path');
    if (path === '') return `testing value  ${TEST_FAILED}`;
    const place = placeOf(document, path);
    if (place === undefined) return `test operation does not apply: is missing path: ${path}: ${MISSING}`;
    return within(accessProblem(place), `error in test for path: '${path}'`) ?? `testing value ${path} ${TEST_FAILED}`;
  },
};

/** The second half of a move or a copy. */
function arrival(operation: Operation, document: unknown, op: 'move' | 'copy'): string | undefined {
  const path = textIn(operation, 'path');
  if (path === undefined) {
    const why = op === 'copy' ? MISSING : unreadable(operation, 'path');
    return `${op} operation failed to decode path: ${why}`;
  }
  const place = placeOf(document, path);
  if (place === undefined)
    return `${op} operation does not apply: doc is missing destination path: ${path}: ${MISSING}`;
  const context = op === 'move' ? `error in move for path: '${path}'` : 'error while adding value during copy';
  return within(insertProblem(place), context);
}

function within(problem: string | undefined, context: string): string | undefined {
  return problem === undefined ? undefined : `${context}: ${problem}`;
}

function textIn(operation: Operation, field: string): string | undefined {
  const value = own(operation, field);
  return typeof value === 'string' ? value : undefined;
}

function unreadable(operation: Operation, field: 'path' | 'from'): string {
  const value = own(operation, field);
  if (value === undefined || value === null) {
    return `${field === 'path' ? 'operation missing path field' : 'operation, missing from field'}: ${MISSING}`;
  }
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `json: cannot unmarshal ${type} into Go value of type string`;
}

interface Place {
  readonly container: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly key: string;
}

/** The last container on the way to a path, if it can be reached. */
function placeOf(document: unknown, path: string): Place | undefined {
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

/** Items of lists must be there; keys need not. */
function accessProblem({ container, key }: Place): string | undefined {
  if (!Array.isArray(container) || indexOf(key, container.length) !== undefined) return undefined;
  return indexProblem(key);
}

function removeProblem(place: Place): string | undefined {
  const { container, key } = place;
  if (Array.isArray(container)) return accessProblem(place);
  if (Object.hasOwn(container, key)) return undefined;
  return `Unable to remove nonexistent key: ${key}: ${MISSING}`;
}

function insertProblem({ container, key }: Place): string | undefined {
  if (!Array.isArray(container) || key === '-' || indexOf(key, container.length + 1) !== undefined) return undefined;
  return /^[+-]?[0-9]+$/.test(key)
    ? indexProblem(key)
    : `value was not a proper array index: '${key}': ${indexProblem(key)}`;
}

function indexProblem(key: string): string {
  if (!/^[+-]?[0-9]+$/.test(key)) return `strconv.Atoi: parsing ${quote(key)}: invalid syntax`;
  return `Unable to access invalid index: ${Number(key)}: ${INVALID_INDEX}`;
}
