/**
 * A value that may have to be waited for. The core of a request is synchronous unless something in it (a plugin, a
 * journal, a middleware) must wait; `chain` keeps both cases in one piece of code without making the first one pay.
 */

export type MaybePromise<Value> = Value | Promise<Value>;

export function isPromise<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return value instanceof Promise;
}

/** Runs `next` with the value: at once when it is there, later when it is not. */
export function chain<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** The value of `run`, or what `recover` makes of its failure, whether that comes at once or later. */
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
