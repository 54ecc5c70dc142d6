/**
 * How types of the API are written: in four lines, so that declarations and messages show them by name, and built
 * when first asked for, so that a cluster pays for the kinds it uses and not for those it could.
 *
 *     const probeShape = () => ({ periodSeconds: optional(int32()) });
 *     export interface Probe extends Output<typeof probeShape> {}
 *     export interface ProbeInput extends Input<typeof probeShape> {}
 *     export const probe: Type<Probe, ProbeInput> = type('Probe', probeShape);
 */
import type * as z from 'zod';
import type { Hint } from './hints.js';
import { hint, struct } from './hints.js';

/** A named schema, built by its first call. */
export type Type<Out, In = Out> = () => z.ZodType<Out, In>;

/** What a type with these fields looks like when it comes back from the server. */
export type Output<Shape extends () => z.ZodRawShape> = z.output<z.ZodObject<ReturnType<Shape>>>;

/** What may be sent. */
export type Input<Shape extends () => z.ZodRawShape> = z.input<z.ZodObject<ReturnType<Shape>>>;

/**
 * A struct of the reference server. `goName` may carry its package, which is `v1` otherwise: `v1beta1.DeviceClaim`.
 *
 * @__NO_SIDE_EFFECTS__ A bundle drops the types it does not use.
 */
export function type<Out, In>(goName: string, shape: () => z.ZodRawShape, more: Hint = {}): Type<Out, In> {
  const dot = goName.indexOf('.');
  const name = goName.slice(dot + 1);
  const goType = dot < 0 ? {} : { goType: goName };
  return once(() => hint(struct(name, shape()), { ...goType, ...more }) as unknown as z.ZodType<Out, In>);
}

/**
 * A function that works once and remembers.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}
