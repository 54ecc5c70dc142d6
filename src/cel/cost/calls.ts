/** Cost estimates of calls that no library estimates. */
import type { CallEstimate, NodeToEstimate } from '../library.js';
import {
  add,
  type Estimate,
  fixed,
  multiply,
  multiplyByFactor,
  REGEX,
  TRAVERSAL,
  UNKNOWN,
  union,
  wrapping,
} from './range.js';

export interface Call {
  readonly overload: string;
  readonly target: NodeToEstimate | undefined;
  readonly args: readonly NodeToEstimate[];
  /** The costs of the arguments. */
  readonly argCosts: readonly Estimate[];
}

export function sizeOf(node: NodeToEstimate | undefined): Estimate {
  return node?.computedSize ?? UNKNOWN;
}

/** Estimates a call, including the cost of its arguments. */
export function callCost({ overload, target, args, argCosts }: Call): CallEstimate {
  const [first, second, third] = args;
  const [firstCost = ZERO, secondCost = ZERO, thirdCost = ZERO] = argCosts;
  const withArgs = (own: Estimate, resultSize?: Estimate): CallEstimate => {
    const cost = add(own, ...argCosts);
    return resultSize === undefined ? { cost } : { cost, resultSize };
  };
  const traversed = (size: Estimate) => multiplyByFactor(size, TRAVERSAL);
  switch (overload) {
    case 'string_format':
      return withArgs(traversed(sizeOf(target)));
    case 'string_to_bytes': {
      if (args.length !== 1) break;
      const size = sizeOf(first);
      return withArgs(traversed(size), { min: size.min, max: wrapping(size.max, 4) });
    }
    case 'bytes_to_string': {
      if (args.length !== 1) break;
      const size = sizeOf(first);
      return withArgs(traversed(size), { min: Math.floor(size.min / 4), max: size.max });
    }
    case 'strings_quote': {
      if (args.length !== 1) break;
      const size = sizeOf(first);
      return withArgs(traversed(size), { min: wrapping(size.min, 1, 2), max: wrapping(size.max, 2, 2) });
    }
    case 'starts_with_string':
    case 'ends_with_string':
      if (args.length !== 1) break;
      return withArgs(traversed(sizeOf(first)));
    case 'in_list':
      if (args.length !== 2) break;
      return withArgs(sizeOf(second));
    case 'matches_string': {
      if (args.length !== 1) break;
      // Add one, so that matching an empty string is not free.
      const text = traversed(add(sizeOf(target), fixed(1)));
      return withArgs(multiply(text, multiplyByFactor(sizeOf(first), REGEX)));
    }
    case 'contains_string':
      if (args.length !== 1) break;
      return withArgs(multiply(traversed(sizeOf(target)), traversed(sizeOf(first))));
    case 'logical_and':
    case 'logical_or':
      // The right side may not be evaluated.
      return { cost: { min: firstCost.min, max: add(firstCost, secondCost).max } };
    case 'conditional':
      return {
        cost: add(firstCost, union(secondCost, thirdCost)),
        resultSize: union(sizeOf(second), sizeOf(third)),
      };
    case 'add_list':
    case 'add_string':
    case 'add_bytes': {
      if (args.length !== 2) break;
      const size = add(sizeOf(first), sizeOf(second));
      return withArgs(overload === 'add_list' ? fixed(1) : traversed(size), size);
    }
    default:
      if (!COMPARISONS.has(overload)) break;
      return withArgs(traversed(comparisonCost(sizeOf(first), sizeOf(second))));
  }
  return withArgs(fixed(1));
}

const ZERO = fixed(0);

/** Comparisons that may traverse both operands. */
const COMPARISONS: ReadonlySet<string> = new Set([
  'equals',
  'not_equals',
  ...['less', 'less_equals', 'greater', 'greater_equals'].flatMap((relation) => [
    `${relation}_string`,
    `${relation}_bytes`,
  ]),
]);

/** The first item may differ; the shorter operand bounds the traversal. */
function comparisonCost(left: Estimate, right: Estimate): Estimate {
  const max = Math.min(left.max, right.max);
  return { min: max > 0 ? 1 : 0, max };
}
