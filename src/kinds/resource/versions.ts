/**
 * Builds the types of the resource group's versions. Most differ only in their Go type names, which occur in decoding
 * errors, so each type is defined once and built per version.
 */
import { type Declaration, type Shape, type Type, type } from '../../schema/declare.js';

/** A version of the group. */
export type Version = 'v1beta2' | 'v1beta1' | 'v1alpha3';

/** A type that is built per version. */
export type VersionedType = (version: Version) => Declaration;

/**
 * A struct with the same name in every version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function versioned(name: string, shape: (version: Version) => Shape): VersionedType {
  const types = new Map<Version, Type>();
  return (version) => {
    const made = types.get(version) ?? type(`${version}.${name}`, () => shape(version));
    types.set(version, made);
    return made();
  };
}
