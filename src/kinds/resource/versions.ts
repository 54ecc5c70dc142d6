/**
 * The versions of this group. Most of their types differ in name alone, and the name shows in decoding messages; so a
 * type is written once and built for each version that asks.
 */
import type * as z from 'zod';
import { type } from '../../schema/type.js';

export type Version = 'v1beta2' | 'v1beta1' | 'v1alpha3';

/** A type of every version. */
export type VersionedType<Out, In = Out> = (version: Version) => z.ZodType<Out, In>;

type VersionedShape = (version: Version) => z.ZodRawShape;

/**
 * A struct that every version has under the same name.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function versioned<Out, In>(name: string, shape: VersionedShape): VersionedType<Out, In> {
  const made = new Map<Version, z.ZodType<Out, In>>();
  return (version) => {
    const schema = made.get(version) ?? type<Out, In>(`${version}.${name}`, () => shape(version))();
    made.set(version, schema);
    return schema;
  };
}
