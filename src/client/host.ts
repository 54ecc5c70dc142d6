/**
 * What stands beside a cluster works on: its public client's transport, and what else a cluster of this process can tell
 * about itself. Controllers are made for this contract, so they run as well against a server far away.
 */
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { Transport } from '../protocol/transport.js';
import type { Activities } from '../util/activity.js';
import type { Ids } from '../util/ids.js';

/** Any transport is one; a cluster knows more. */
export interface Host extends Transport {
  readonly ids?: Ids;
  /** Every kind it serves, in each version; the same list until that changes. */
  kinds?(): readonly ServedKind[];
  resolve?(resource: GroupVersionResource): ServedKind | undefined;
  readonly features?: FeatureGates;
  /** Where work of one's own is made known, so that whoever waits for rest waits for it. */
  readonly activities?: Activities;
}

/** A host of this process. */
export type LocalHost = Required<Omit<Host, 'closing' | 'origin'>> & Pick<Host, 'closing' | 'origin'>;

/** Starts something beside a cluster; what it returns ends it. Called again for each fork, and after `restore`. */
export type Companion = (host: LocalHost) => { close(): unknown };
