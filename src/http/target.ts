/**
 * What a handler needs of the cluster behind it.
 */
import type { AuditLog } from '../audit/log.js';
import type { ClusterAuthentication } from '../auth/cluster-authentication.js';
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { Release } from '../kinds/lifecycle.js';
import type { InsideReader } from '../kinds/objects.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import type { Clock } from '../util/clock.js';
import type { Ids } from '../util/ids.js';
import type { ServedResource } from './routes.js';

/** A cluster is one. */
export interface FetchTarget {
  readonly dialect: Dialect;
  /** By which requests run out of time. */
  readonly clock: Clock;
  /** For audit ids. */
  readonly ids: Ids;
  /** The resource at a path; names are in the cluster's dialect. */
  resolve(gvr: GroupVersionResource): ServedResource | undefined;
  /** What such a group does not serve is answered with a Status; anything else that is unknown, in plain text. */
  hasBuiltIns(group: string): boolean;
  /** Everything it serves; the same list as long as that does not change. */
  kinds(): readonly ServedKind[];
  readonly features: FeatureGates;
  /** The release that it plays. */
  readonly release: Release;
  /** Aborts when there will be no more answers. */
  readonly closing?: AbortSignal;
  /** May somebody do that? No user: the administrator. */
  authorize(user: User | undefined, attributes: AccessAttributes): AccessDecision;
  /** Objects as they are stored, for what a handler itself has to know. */
  readonly inside: InsideReader;
  /** Writes requests down; absent: nobody does. */
  readonly audit?: AuditLog | undefined;
  /** Whom tokens stand for. */
  readonly authentication: ClusterAuthentication;
  /** Answers at once or later. Throws, or rejects with, StatusError. */
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}
