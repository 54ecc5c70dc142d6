/**
 * The interface that an HTTP handler needs from a cluster.
 */
import type { AuditLog } from '../audit/log.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { Release } from '../kinds/lifecycle.js';
import type { StorageReader } from '../kinds/objects.js';
import type { ServerListener } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { RuntimeSlot } from '../protocol/connection.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { ServedResource } from './routes.js';

/** The part of a cluster that an HTTP handler uses. */
export interface FetchTarget {
  readonly dialect: Dialect;
  /** Drives request timeouts. */
  readonly clock: Clock;
  /** Generates audit IDs. */
  readonly ids: Ids;
  /** Finds the resource at a path; group names are in the cluster's dialect. */
  resolve(gvr: GroupVersionResource): ServedResource | undefined;
  /**
   * Whether a group has built-in kinds. Unknown resources of such a group get a Status with 404, all other unknown
   * paths a plain-text 404.
   */
  hasBuiltIns(group: string): boolean;
  /** All served kinds; the same array as long as they do not change. */
  kinds(): readonly ServedKind[];
  readonly features: FeatureGates;
  /** The Kubernetes release that the cluster emulates. */
  readonly release: Release;
  /** Aborts when the cluster closes. */
  readonly closing?: AbortSignal;
  /** Authorizes a user for a request; an undefined user is the administrator. */
  authorize(user: User | undefined, attributes: AccessAttributes): AccessDecision;
  /** Reads stored objects without a request, for what the handler itself needs (APIServices, FlowSchemas). */
  readonly storageReader: StorageReader;
  /** The runtime whose pods may serve aggregated APIs. */
  readonly runtimeSlot?: RuntimeSlot;
  /** The audit log; absent: auditing is disabled. */
  readonly audit?: AuditLog | undefined;
  /** Makes an address of the server the endpoint of its Service. The result removes the address. */
  advertise?(listener: ServerListener): () => void;
  /** Authenticates bearer tokens. */
  readonly authentication: ClusterAuthentication;
  /** Executes a request, synchronously where possible. Throws, or rejects with, StatusError. */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}
