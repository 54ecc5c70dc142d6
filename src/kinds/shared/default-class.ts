/**
 * Classes that are taken where none is named: an annotation marks them.
 */
import type { Dialect } from '../../meta/dialect.js';
import { own } from '../../util/json.js';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

/** Where storage classes may carry the mark: the present place, and the one of old. */
export const DEFAULT_STORAGE_CLASS_SUBDOMAINS = ['storageclass', 'storageclass.beta'] as const;

/** Whether a class is marked in one of the subdomains. */
export function isDefaultClass({ metadata }: Annotated, subdomains: readonly string[], dialect: Dialect): boolean {
  const { annotations } = metadata;
  if (annotations === undefined) return false;
  return subdomains.some((subdomain) => own(annotations, dialect.subkey(subdomain, 'is-default-class')) === 'true');
}
