/**
 * The kinds of the core group.
 */
import type { Kind } from '../kind.js';
import { ComponentStatus } from './v1/component-status.js';
import { ConfigMap } from './v1/config-map.js';
import { Endpoints } from './v1/endpoints.js';
import { CoreEvent } from './v1/event.js';
import { LimitRange } from './v1/limit-range.js';
import { Namespace } from './v1/namespace.js';
import { Node } from './v1/node/node.js';
import { PersistentVolume } from './v1/persistent-volume.js';
import { PersistentVolumeClaim } from './v1/persistent-volume-claim.js';
import { Binding } from './v1/pod/binding.js';
import { Pod } from './v1/pod/pod.js';
import { PodTemplate } from './v1/pod-template.js';
import { ReplicationController } from './v1/replication-controller.js';
import { ResourceQuota } from './v1/resource-quota.js';
import { Secret } from './v1/secret.js';
import { Service } from './v1/service/service.js';
import { ServiceAccount } from './v1/service-account.js';

export * from './v1/component-status.js';
export * from './v1/config-map.js';
export { Endpoints } from './v1/endpoints.js';
export { CoreEvent } from './v1/event.js';
export * from './v1/limit-range.js';
export * from './v1/namespace.js';
export * from './v1/node/node.js';
export * from './v1/persistent-volume.js';
export { PersistentVolumeClaim } from './v1/persistent-volume-claim.js';
export { Binding } from './v1/pod/binding.js';
export { Eviction } from './v1/pod/eviction.js';
export * from './v1/pod/pod.js';
export * from './v1/pod-template.js';
export * from './v1/replication-controller.js';
export * from './v1/resource-quota.js';
export * from './v1/secret.js';
export { Service } from './v1/service/service.js';
export * from './v1/service-account.js';

export const coreKinds: readonly Kind[] = [
  Binding,
  ComponentStatus,
  ConfigMap,
  Endpoints,
  CoreEvent,
  LimitRange,
  Namespace,
  Node,
  PersistentVolumeClaim,
  PersistentVolume,
  Pod,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  Secret,
  ServiceAccount,
  Service,
];
