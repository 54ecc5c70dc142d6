/**
 * The interface that controllers use to talk to a cluster: a transport, plus what a cluster in this process can
 * provide. Controllers need only the transport, so they also run against a remote server.
 */
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ClusterSettings } from '../kinds/shared/cluster-settings.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { RuntimeSlot } from '../protocol/connection.js';
import type { Transport } from '../protocol/transport.js';
import type { Activities } from '../util/activity.js';
import type { Ids } from '../util/ids.js';

/** A transport; the optional members exist for a cluster in this process. */
export interface Host extends Transport {
  readonly ids?: Ids;
  /** All served kinds, in each version; the same array until that changes. */
  kinds?(): readonly ServedKind[];
  resolve?(resource: GroupVersionResource): ServedKind | undefined;
  readonly features?: FeatureGates;
  /** The settings of the server. */
  readonly settings?: ClusterSettings;
  /** What runs the pods of the cluster; a controller sets it. */
  readonly runtimeSlot?: RuntimeSlot;
  /** Registers ongoing work, so that waiting for idle includes it. */
  readonly activities?: Activities;
}

/** A host in this process. */
export type LocalHost = Required<Omit<Host, 'closing' | 'origin'>> & Pick<Host, 'closing' | 'origin'>;

/** Starts controllers for a cluster; the returned handle stops them. Called again for each fork and after `restore`. */
export type ControllerStarter = (host: LocalHost) => { close(): unknown };
