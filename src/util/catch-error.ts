/**
 * Handlers for the errors of one class. All other errors pass.
 */

type ErrorClass<Failure> = abstract new (...parameters: never[]) => Failure;

/** The result of `run`, or that of `recover` if `run` throws an error of the class. */
export function recoverFrom<Failure, Value>(
  type: ErrorClass<Failure>,
  run: () => Value,
  recover: (error: Failure) => Value,
): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof type) return recover(error);
    throw error;
  }
}

/** The result of `run`. An error of the class is replaced by the one that `make` returns. */
export function translateError<Failure, Value>(
  type: ErrorClass<Failure>,
  run: () => Value,
  make: (error: Failure) => Error,
): Value {
  return recoverFrom(type, run, (error) => {
    throw make(error);
  });
}
