/**
 * The plugins that are on by default; position is order.
 */
import { mutatingAdmissionPolicy } from '../mutating-policy/index.js';
import { podSecurity } from '../pod-security/pod-security.js';
import { validatingAdmissionPolicy } from '../policy/validating-admission-policy.js';
import { resourceQuota } from '../quota/resource-quota.js';
import type { AdmissionPlugin } from '../types.js';
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from '../webhook/index.js';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
} from './certificates.js';
import { defaultIngressClass, defaultStorageClass } from './default-class.js';
import { defaultTolerationSeconds } from './default-toleration-seconds.js';
import { limitRanger } from './limit-ranger.js';
import { namespaceLifecycle } from './namespace-lifecycle.js';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.js';
import { podTopologyLabels } from './pod-topology-labels.js';
import { priority } from './priority.js';
import { runtimeClass } from './runtime-class.js';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.js';
import { taintNodesByCondition } from './taint-nodes-by-condition.js';

export const defaultAdmission: readonly AdmissionPlugin[] = Object.freeze([
  namespaceLifecycle,
  limitRanger,
  taintNodesByCondition,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  clusterTrustBundleAttest,
  certificateSubjectRestriction,
  defaultIngressClass,
  podTopologyLabels,
  mutatingAdmissionPolicy,
  mutatingAdmissionWebhook,
  validatingAdmissionPolicy,
  validatingAdmissionWebhook,
  resourceQuota,
]);
