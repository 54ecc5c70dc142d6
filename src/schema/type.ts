/**
 * Named schemas of API types. A schema is built when it is first used, so that a cluster pays only for the kinds it uses.
 * Interfaces and schemas of built-in types are generated from the tables in `kinds/types`.
 */
import type * as z from 'zod';
import type { Hint } from './hints.js';
import { hint, struct } from './hints.js';

/** A named schema, built on first call. */
export type Type<Out, In = Out> = () => z.ZodType<Out, In>;

/** The type of objects that the server returns. */
export type Output<Shape extends () => z.ZodRawShape> = z.output<z.ZodObject<ReturnType<Shape>>>;

/** The type of objects that clients send. */
export type Input<Shape extends () => z.ZodRawShape> = z.input<z.ZodObject<ReturnType<Shape>>>;

/**
 * Declares a struct of the API. `goName` may include its package (default `v1`): `v1beta1.DeviceClaim`.
 *
 * @__NO_SIDE_EFFECTS__ Bundlers drop unused types.
 */
export function type<Out, In>(goName: string, shape: () => z.ZodRawShape, more: Hint = {}): Type<Out, In> {
  const dot = goName.indexOf('.');
  const name = goName.slice(dot + 1);
  const goType = dot < 0 ? {} : { goType: goName };
  return once(() => hint(struct(name, shape()), { ...goType, ...more }) as z.ZodType<Out, In>);
}

/**
 * Returns a function that computes its result on the first call and caches it.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function once<Result>(make: () => Result): () => Result {
  let cached: { readonly result: Result } | undefined;
  return () => {
    cached ??= { result: make() };
    return cached.result;
  };
}
