/**
 * The entry point `orchplane/kinds`: all built-in kinds, importable one by one so that bundles contain only the kinds
 * they use, and the list `builtInKinds`.
 */
import { apiextensionsKinds } from '../crd/index.js';
import { admissionregistrationKinds } from './admissionregistration/index.js';
import { apiregistrationKinds } from './apiregistration/index.js';
import { appsKinds } from './apps/index.js';
import { authenticationKinds } from './authentication/index.js';
import { authorizationKinds } from './authorization/index.js';
import { autoscalingKinds } from './autoscaling/index.js';
import { batchKinds } from './batch/index.js';
import { certificatesKinds } from './certificates/index.js';
import { coordinationKinds } from './coordination/index.js';
import { coreKinds } from './core/index.js';
import { discoveryKinds } from './discovery/index.js';
import { eventsKinds } from './events/index.js';
import { flowcontrolKinds } from './flowcontrol/index.js';
import { internalKinds } from './internal/index.js';
import type { Kind } from './kind.js';
import { networkingKinds } from './networking/index.js';
import { nodeKinds } from './node/index.js';
import { policyKinds } from './policy/index.js';
import { rbacKinds } from './rbac/index.js';
import { resourceKinds } from './resource/index.js';
import { schedulingKinds } from './scheduling/index.js';
import { storageKinds } from './storage/index.js';
import { storagemigrationKinds } from './storagemigration/index.js';

export * from '../crd/index.js';
export * from './admissionregistration/index.js';
export * from './apiregistration/index.js';
export * from './apps/index.js';
export * from './authentication/index.js';
export * from './authorization/index.js';
export * from './autoscaling/index.js';
export * from './batch/index.js';
export * from './certificates/index.js';
export * from './coordination/index.js';
export * from './core/index.js';
export * from './discovery/index.js';
export * from './events/index.js';
export * from './flowcontrol/index.js';
export type * from './generated/public-types.js';
export * from './internal/index.js';
export * from './networking/index.js';
export * from './node/index.js';
export * from './policy/index.js';
export * from './rbac/index.js';
export * from './resource/index.js';
export * from './scheduling/index.js';
export * from './storage/index.js';
export * from './storagemigration/index.js';

/** All built-in kinds, in the order of discovery. */
export const builtInKinds: readonly Kind[] = Object.freeze([
  ...coreKinds,
  ...admissionregistrationKinds,
  ...apiextensionsKinds,
  ...apiregistrationKinds,
  ...appsKinds,
  ...authenticationKinds,
  ...authorizationKinds,
  ...autoscalingKinds,
  ...batchKinds,
  ...certificatesKinds,
  ...coordinationKinds,
  ...discoveryKinds,
  ...eventsKinds,
  ...flowcontrolKinds,
  ...internalKinds,
  ...networkingKinds,
  ...nodeKinds,
  ...policyKinds,
  ...rbacKinds,
  ...resourceKinds,
  ...schedulingKinds,
  ...storageKinds,
  ...storagemigrationKinds,
]);
