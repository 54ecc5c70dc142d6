/**
 * Size estimates for cost estimation.
 */
import type { Sizes } from '../../cel/index.js';
import { MAX_REQUEST_BYTES, type Shape } from './shape.js';

/** The sizes of values reachable from `self` or `oldSelf` are those of the schema; other sizes are unknown. */
export function sizesOf(root: Shape): Sizes {
  return {
    estimateSize({ path }) {
      if (path.length === 0) return undefined;
      let max = root.maxElements;
      let shape: Shape | undefined = root;
      for (const step of path.slice(1)) {
        if (shape === undefined) return undefined;
        if (step === '@keys') {
          if (shape.kind !== 'map') return undefined;
          // The size of keys is unbounded; the reference server counts them as empty.
          [shape, max] = [undefined, 0];
          continue;
        }
        shape = stepInto(shape, step);
        if (shape === undefined) return undefined;
        max = shape.maxElements;
      }
      return { min: 0, max };
    },
  };
}

function stepInto(shape: Shape, step: string): Shape | undefined {
  if (shape.kind === 'object') return shape.fields.get(step);
  const isElement = step === '@items' || step === '@values';
  return isElement && shape.kind !== 'scalar' ? shape.element : undefined;
}

/** How often a value of this type fits into one request, with a comma after each. */
export function mostInRequest({ minSize }: Shape): number {
  return Math.floor(MAX_REQUEST_BYTES / (minSize + 1));
}
