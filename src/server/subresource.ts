/**
 * Finds the subresources of a kind by name.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import type { AnySubresource, ConnectSubresource, SubresourceStrategy } from '../kinds/subresource.js';
import { invariant } from '../util/invariant.js';
import { own } from '../util/json.js';

export function subresourceOf(served: Pick<ServedKind, 'kind'>, name: string | undefined): AnySubresource | undefined {
  return name === undefined ? undefined : own(served.kind.subresources, name);
}

export function connectSubresourceOf(
  served: Pick<ServedKind, 'kind'>,
  name: string | undefined,
): ConnectSubresource | undefined {
  const { connectSubresources: connections } = served.kind;
  return name === undefined || connections === undefined ? undefined : own(connections, name);
}

/** A subresource that is a part of the object; views and actions have their own handlers. */
export function strategySubresourceOf(served: ServedKind, name: string | undefined): SubresourceStrategy | undefined {
  const subresource = subresourceOf(served, name);
  if (subresource === undefined) return undefined;
  invariant(subresource.type === undefined, 'neither a view nor an action is a part of its object');
  return subresource;
}
