/**
 * A value or a promise of it. Requests run synchronously unless a plugin, a journal or a middleware is asynchronous;
 * `chain` handles both cases without the cost of a promise in the synchronous one.
 */

export type MaybePromise<Value> = Value | Promise<Value>;

export function isPromise<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return value instanceof Promise;
}

/** Calls `next` with the value: at once for a plain value, after it resolves for a promise. */
export function chain<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The result of `run`, or that of `recover` if `run` throws or rejects. */
export function rescue<Value>(
  run: () => MaybePromise<Value>,
  recover: (error: unknown) => MaybePromise<Value>,
): MaybePromise<Value> {
  try {
    const result = run();
    return isPromise(result) ? result.catch(recover) : result;
  } catch (error) {
    return recover(error);
  }
}
