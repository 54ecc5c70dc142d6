/**
 * Decides whether the history of one object is linearizable: whether there is an order of its operations, each at a time
 * between its call and its return, in which every result is correct. The algorithm of Wing and Gong with the memory of
 * Lowe: a depth-first search over the operations that may be next, which visits each configuration once.
 *
 * - An operation with an unknown result takes effect at any time after its call, or never.
 * - An operation that changes nothing comes next as soon as its result is correct; this excludes no order.
 * - Of operations with unknown results that cannot be told apart, the search tries only the first.
 */

export interface Operation {
  readonly key: string;
  readonly kind: 'read' | 'create' | 'replace' | 'delete';
  /** What was read or written; each write has a value of its own. */
  readonly value?: string | undefined;
  /** The value that the object must have for a write. */
  readonly expected?: string | undefined;
  readonly result: 'ok' | 'exists' | 'conflict' | 'missing' | 'unknown';
  readonly call: number;
  readonly return: number;
}

/** A value that no operation has read; undefined: the object does not exist. */
const UNSEEN = '(unread)';
type State = string | undefined;

interface Configuration {
  /** The index of the first operation that is not done. */
  readonly low: number;
  /** The indexes of the operations after it that are done. */
  readonly beyond: readonly number[];
  /** The indexes of operations with unknown results that have taken effect. */
  readonly used: readonly number[];
  readonly state: State;
}

const MOST_CONFIGURATIONS = 1_000_000;

/** Returns what is not linearizable, for each object. */
export function checkHistory(operations: readonly Operation[]): string[] {
  const problems = [...new Set(operations.map(({ key }) => key))].map((key) =>
    checkObject(operations.filter((operation) => operation.key === key)),
  );
  return problems.filter((problem) => problem !== undefined);
}

export function checkObject(operations: readonly Operation[]): string | undefined {
  const found = search(operations);
  if (found.isLinearizable) return undefined;
  const small = found.isDecided ? shrink(operations) : operations;
  return describe(small, search(small));
}

interface Search {
  readonly isLinearizable: boolean;
  readonly isDecided: boolean;
  /** The configuration with most operations done. */
  readonly best: Configuration;
  readonly definite: readonly Operation[];
}

function search(operations: readonly Operation[]): Search {
  const seenValues = new Set(
    operations.flatMap(({ kind, value, expected }) => (kind === 'read' ? [value] : [expected])),
  );
  const sorted = operations
    .map((each) => (each.value === undefined || seenValues.has(each.value) ? each : { ...each, value: UNSEEN }))
    .sort((one, other) => one.call - other.call);
  const definite = sorted.filter(({ result }) => result !== 'unknown');
  const unknown = sorted.filter(({ kind, result }) => result === 'unknown' && kind !== 'read');
  const visited = new Set<string>();
  let best: Configuration = { low: 0, beyond: [], used: [], state: undefined };
  const stack = [best];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const now = withoutChanges(definite, next);
    if (doneIn(now) > doneIn(best)) best = now;
    if (now.low === definite.length) return { isLinearizable: true, isDecided: true, best, definite };
    const name = JSON.stringify([now.low, now.beyond, now.used, now.state]);
    if (visited.has(name)) continue;
    if (visited.size >= MOST_CONFIGURATIONS) return { isLinearizable: false, isDecided: false, best, definite };
    visited.add(name);
    // Those with known results are tried first, so they are pushed last.
    for (const successor of successorsOf(definite, unknown, now)) stack.push(successor);
  }
  return { isLinearizable: false, isDecided: true, best, definite };
}

const doneIn = ({ low, beyond }: Configuration): number => low + beyond.length;

/** The indexes of operations that may be next, and the time at which one of them must have been done. */
function candidatesOf(
  definite: readonly Operation[],
  { low, beyond }: Configuration,
): { indexes: number[]; until: number } {
  const indexes: number[] = [];
  let until = Number.POSITIVE_INFINITY;
  for (let index = low; index < definite.length; index++) {
    const operation = definite[index] as Operation;
    if (operation.call > until) break;
    if (beyond.includes(index)) continue;
    indexes.push(index);
    until = Math.min(until, operation.return);
  }
  return { indexes, until };
}

function withoutChanges(definite: readonly Operation[], start: Configuration): Configuration {
  let now = start;
  for (;;) {
    const { state } = now;
    const done = candidatesOf(definite, now).indexes.filter((index) => {
      const operation = definite[index] as Operation;
      return changesNothing(operation) && isPossible(operation, state);
    });
    if (done.length === 0) return now;
    now = withDone(now, done);
  }
}

function withDone({ low, beyond, ...rest }: Configuration, indexes: readonly number[]): Configuration {
  const done = new Set([...beyond, ...indexes]);
  let first = low;
  while (done.delete(first)) first++;
  return { ...rest, low: first, beyond: [...done].sort((one, other) => one - other) };
}

function* successorsOf(
  definite: readonly Operation[],
  unknown: readonly Operation[],
  now: Configuration,
): Generator<Configuration> {
  const { indexes, until } = candidatesOf(definite, now);
  const tried = new Set<string>();
  for (const [index, operation] of unknown.entries()) {
    if (operation.call > until) break;
    if (now.used.includes(index) || !isPossible({ ...operation, result: 'ok' }, now.state)) continue;
    const { kind, value, expected } = operation;
    const name = JSON.stringify([kind, value, expected]);
    if (tried.has(name)) continue;
    tried.add(name);
    yield { ...now, used: [...now.used, index].sort((one, other) => one - other), state: value };
  }
  for (const index of indexes.reverse()) {
    const operation = definite[index] as Operation;
    if (changesNothing(operation) || !isPossible(operation, now.state)) continue;
    yield { ...withDone(now, [index]), state: operation.value };
  }
}

function changesNothing({ kind, result }: Operation): boolean {
  return kind === 'read' || result !== 'ok';
}

/** The result is correct for an object in this state. */
function isPossible({ kind, value, expected, result }: Operation, state: State): boolean {
  if (result === 'missing') return state === undefined;
  if (result === 'exists') return state !== undefined;
  if (result === 'conflict') return state !== undefined && state !== expected;
  if (kind === 'read') return state === value;
  if (kind === 'create') return state === undefined;
  return state !== undefined && (expected === undefined || state === expected);
}

const SHRINK_MS = 20_000;

/** Leaves out operations that change nothing and are not needed for the violation. */
function shrink(operations: readonly Operation[]): readonly Operation[] {
  const until = performance.now() + SHRINK_MS;
  let small = operations;
  for (let size = operations.length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < small.length && performance.now() < until; ) {
      const kept = small.filter((each, index) => index < start || index >= start + size || !changesNothing(each));
      const isSmaller = kept.length < small.length;
      const { isLinearizable, isDecided } = isSmaller ? search(kept) : { isLinearizable: true, isDecided: true };
      if (isLinearizable || !isDecided) start += size;
      else small = kept;
    }
  }
  return small;
}

/** Operations before the violation that a description shows. */
const SHOWN = 12;

function describe(operations: readonly Operation[], { best, definite, isDecided }: Search): string {
  const { indexes, until } = candidatesOf(definite, best);
  const around = [...operations].sort((one, other) => one.call - other.call).filter(({ call }) => call <= until);
  const lines = [
    `${operations[0]?.key}: ${isDecided ? 'not linearizable' : 'not decided'}: in the state ${best.state ?? 'absent'} ` +
      `after ${doneIn(best)} operations, no next operation is possible:`,
    ...indexes.map((index) => `  blocked: ${textOf(definite[index] as Operation)}`),
    ...around.slice(-SHOWN).map((operation) => `  ${textOf(operation)}`),
  ];
  return lines.join('\n');
}

function textOf({ kind, value, expected, result, call, return: end }: Operation): string {
  const condition = expected === undefined ? '' : ` if ${expected}`;
  return `${call.toFixed(1)}..${end.toFixed(1)} ${kind} ${value ?? ''}${condition} -> ${result}`;
}
