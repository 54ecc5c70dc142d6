/**
 * The plugins of a cluster that brings no more than it is given: those that need neither expressions nor webhooks.
 */
import type { AdmissionPlugin } from '../types.js';
import { defaultIngressClass, defaultStorageClass } from './default-class.js';
import { defaultTolerationSeconds } from './default-toleration-seconds.js';
import { limitRanger } from './limit-ranger.js';
import { namespaceLifecycle } from './namespace-lifecycle.js';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.js';
import { taintNodesByCondition } from './taint-nodes-by-condition.js';

export const slimAdmission: readonly AdmissionPlugin[] = Object.freeze([
  namespaceLifecycle,
  limitRanger,
  taintNodesByCondition,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  defaultIngressClass,
]);
