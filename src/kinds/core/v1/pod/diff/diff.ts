/**
 * Diffs of pod specs in the format of github.com/google/go-cmp, and values in the format of Go's `%#v`, as they occur in
 * the reference server's messages about pod updates.
 *
 * The steps: `go-value.ts` converts JSON to values of the Go types in `go-types.ts`, `compare.ts` builds a tree of
 * differences, `format-diff.ts` and `format-value.ts` turn it into text nodes, and `text.ts` lays them out in lines.
 */
import { quote } from '../../../../../text/go/go-text.js';
import { hasMoreContainers } from '../../../../../util/json-bytes.js';
import { goSyntaxQuantity } from '../../../../shared/go-syntax.js';
import { compareValues } from './compare.js';
import { printDiff } from './format-diff.js';
import { goType } from './go-types.js';
import { type GoValue, goValue } from './go-value.js';

/** A container of a pod spec needs several kilobytes as values of its Go types. */
const MAX_PRINTED_CONTAINERS = 10_000;
const TOO_LARGE = '(too large to be printed)';

function isTooLarge(value: unknown): boolean {
  return hasMoreContainers(value, MAX_PRINTED_CONTAINERS);
}

/** The diff of two values as `cmp.Diff` prints it. `type` is the name of a Go struct, such as `PodSpec`. */
export function diffText(type: string, before: unknown, after: unknown): string {
  if (isTooLarge(before) || isTooLarge(after)) return TOO_LARGE;
  const struct = goType(type);
  return printDiff(compareValues(struct, goValue(struct, before, true), goValue(struct, after)));
}

/** Prints a value as Go's `%#v`, for `Invalid value: …`. */
export function goSyntaxText(type: string, value: unknown): string {
  if (isTooLarge(value)) return TOO_LARGE;
  return goSyntax(goValue(goType(type), value));
}

function goSyntax({ type, items, entries, target, scalar }: GoValue): string {
  switch (type.kind) {
    case 'struct': {
      const parts = type.fields.map(({ name }, index) => {
        const item = items?.[index];
        return `${name}:${item === undefined ? '' : goSyntax(item)}`;
      });
      return `${type.name}{${parts.join(', ')}}`;
    }
    case 'pointer': {
      const name = 'name' in type.of ? type.of.name : '';
      // Pointer addresses differ from run to run; this one is a placeholder.
      return `(*${name})(${target ? '0xc000000000' : 'nil'})`;
    }
    case 'slice':
      return items ? `${type.name}{${items.map(goSyntax).join(', ')}}` : `${type.name}(nil)`;
    case 'map': {
      if (!entries) return `${type.name}(nil)`;
      const parts = [...entries].map(([key, value]) => `${quote(key)}:${goSyntax(value)}`);
      return `${type.name}{${parts.join(', ')}}`;
    }
    case 'quantity':
      return goSyntaxQuantity(String(scalar), type.decimals).verbatim;
    case 'string':
      return quote(String(scalar));
    default:
      return String(scalar);
  }
}
