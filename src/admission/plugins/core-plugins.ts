/**
 * The default plugins of the `core` entry point: those that need neither CEL nor webhooks.
 */
import type { AdmissionPlugin } from '../types.js';
import { defaultIngressClass, defaultStorageClass } from './default-class.js';
import { limitRanger } from './limit-ranger.js';
import { namespaceLifecycle } from './namespaces.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { defaultTolerationSeconds, taintNodesByCondition } from './tolerations.js';
import { persistentVolumeClaimResize, storageObjectInUseProtection } from './volume-claims.js';

export const coreAdmission: readonly AdmissionPlugin[] = Object.freeze([
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
