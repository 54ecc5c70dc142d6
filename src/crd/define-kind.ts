/**
 * `defineKind` with CEL validation rules: the function that `orchplane` exports.
 */
import type * as z from 'zod';
import type {
  BodyInput,
  BodyOutput,
  CompileRules,
  InputBase,
  KindDefinition,
  ObjectBase,
} from '../kinds/define-kind.js';
import { defineWith } from '../kinds/define-kind.js';
import type { Kind, Scope } from '../kinds/kind.js';
import { compileKindRules } from './rules/for-kind.js';

const compile: CompileRules = (kind, body, rules) => {
  const judge = compileKindRules(kind, body, rules);
  return (next, live) => {
    const { errors, warnings } = judge(next, live);
    return { problems: errors, warnings };
  };
};

/**
 * Defines a kind from zod schemas.
 *
 * @example
 * const Widget = defineKind({
 *   apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced',
 *   body: { spec: z.object({ min: z.number().int(), max: z.number().int() }) },
 *   rules: [{ rule: 'self.spec.min <= self.spec.max', message: 'min is at most max' }],
 * });
 */
export function defineKind<
  const Shape extends z.ZodRawShape,
  const ObjectScope extends Scope,
  const Subresource extends string = never,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource>,
): Kind<ObjectBase & BodyOutput<Shape>, InputBase & BodyInput<Shape>, ObjectScope, Subresource> {
  return defineWith(definition, compile);
}
