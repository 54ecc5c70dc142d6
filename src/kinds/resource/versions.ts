/**
 * Builds the types of the resource group's versions. Most differ only in their Go type names, which occur in decoding
 * errors, so each type is defined once and built per version.
 */
import type * as z from 'zod';
import { type } from '../../schema/type.js';

/** A version of the group. */
export type Version = 'v1beta2' | 'v1beta1' | 'v1alpha3';

/** A type that is built per version. */
export type VersionedType<Out, In = Out> = (version: Version) => z.ZodType<Out, In>;

type VersionedShape = (version: Version) => z.ZodRawShape;

/**
 * A struct with the same name in every version.
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
