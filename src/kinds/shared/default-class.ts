/**
 * The annotation that marks the default StorageClass or IngressClass.
 */
import type { Dialect } from '../../meta/dialect.js';
import { own } from '../../util/json.js';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** The subdomains of the annotation on storage classes: the current one and the beta one. */
export const DEFAULT_STORAGE_CLASS_SUBDOMAINS = ['storageclass', 'storageclass.beta'] as const;

/** Reports whether the annotation of one of the subdomains is set to `true`. */
export function isDefaultClass({ metadata }: Annotated, subdomains: readonly string[], dialect: Dialect): boolean {
  const { annotations } = metadata;
  if (annotations === undefined) return false;
  return subdomains.some((subdomain) => own(annotations, dialect.subkey(subdomain, 'is-default-class')) === 'true');
}
