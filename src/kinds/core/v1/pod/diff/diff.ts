/**
 * What differs between two specs, and what a value holds, in the forms in which the reference server says it.
 */
import { quote } from '../../../../../text/go/go-text.js';
import { compareValues } from './compare.js';
import { printDiff } from './format-diff.js';
import { goType } from './go-types.js';
import { type GoValue, goValue } from './go-value.js';

/** `type` is the name of a struct of the reference server: `PodSpec`, `EphemeralContainer`. */
export function diffText(type: string, before: unknown, after: unknown): string {
  const struct = goType(type);
  return printDiff(compareValues(struct, goValue(struct, before), goValue(struct, after)));
}

/** All of a value on one line, for `Invalid value: …`. */
export function goSyntaxText(type: string, value: unknown): string {
  return dump(goValue(goType(type), value));
}

function dump({ type, items, entries, target, scalar }: GoValue): string {
  switch (type.kind) {
    case 'struct': {
      const parts = type.fields.map(({ name }, index) => {
        const item = items?.[index];
        return `${name}:${item === undefined ? '' : dump(item)}`;
      });
      return `${type.name}{${parts.join(', ')}}`;
    }
    case 'pointer': {
      const name = 'name' in type.of ? type.of.name : '';
      // Where something is held differs from run to run.
      return `(*${name})(${target ? '0xc000000000' : 'nil'})`;
    }
    case 'slice':
      return items ? `${type.name}{${items.map(dump).join(', ')}}` : `${type.name}(nil)`;
    case 'map': {
      if (!entries) return `${type.name}(nil)`;
      const parts = [...entries].map(([key, value]) => `${quote(key)}:${dump(value)}`);
      return `${type.name}{${parts.join(', ')}}`;
    }
    case 'string':
      return quote(String(scalar));
    default:
      return String(scalar);
  }
}
