/**
 * Predicates that have words. They stand apart from the conditions of `until.ts`, so that a page that only waits does not
 * carry those.
 */

/** What a condition can tell besides yes and no. */
export interface Told {
  /** What is wanted, behind "until": `condition Ready is "True"`. */
  readonly description: string;
  /** What is missing; undefined when nothing is. Undefined as the object stands for one that does not exist. */
  readonly missing: (object: unknown) => string | undefined;
}

/** Whether a predicate can say what it wants. */
export function isTold(predicate: unknown): predicate is Told {
  return typeof predicate === 'function' && 'missing' in predicate && 'description' in predicate;
}
