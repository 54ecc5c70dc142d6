/**
 * Which texts tell about the types of which package. A package may have several, the first of which wins.
 */
import { admissionregistrationDescriptions } from './admissionregistration.js';
import { apiextensionsDescriptions } from './apiextensions.js';
import { apiregistrationDescriptions } from './apiregistration.js';
import { apiserverinternalDescriptions } from './apiserverinternal.js';
import { appsDescriptions } from './apps.js';
import { authenticationDescriptions } from './authentication.js';
import { authorizationDescriptions } from './authorization.js';
import { autoscalingDescriptions } from './autoscaling.js';
import { batchDescriptions } from './batch.js';
import { certificatesDescriptions } from './certificates.js';
import { coordinationDescriptions } from './coordination.js';
import { coreDescriptions } from './core.js';
import { podDescriptions } from './core-pods.js';
import { volumeDescriptions } from './core-volumes.js';
import { discoveryDescriptions } from './discovery.js';
import { eventsDescriptions } from './events.js';
import { flowcontrolDescriptions } from './flowcontrol.js';
import { metaDescriptions } from './meta.js';
import { networkingDescriptions } from './networking.js';
import { nodeDescriptions } from './node.js';
import { policyDescriptions } from './policy.js';
import { rbacDescriptions } from './rbac.js';
import { resourceDescriptions } from './resource.js';
import { schedulingDescriptions } from './scheduling.js';
import { storageDescriptions } from './storage.js';
import { storagemigrationDescriptions } from './storagemigration.js';

export const descriptions: Readonly<Record<string, readonly string[]>> = {
  admissionregistration: [admissionregistrationDescriptions],
  apiextensions: [apiextensionsDescriptions],
  apiregistration: [apiregistrationDescriptions],
  apiserverinternal: [apiserverinternalDescriptions],
  apps: [appsDescriptions],
  authentication: [authenticationDescriptions],
  authorization: [authorizationDescriptions],
  autoscaling: [autoscalingDescriptions],
  batch: [batchDescriptions],
  certificates: [certificatesDescriptions],
  coordination: [coordinationDescriptions],
  core: [coreDescriptions, podDescriptions, volumeDescriptions],
  discovery: [discoveryDescriptions],
  events: [eventsDescriptions],
  flowcontrol: [flowcontrolDescriptions],
  meta: [metaDescriptions],
  networking: [networkingDescriptions],
  node: [nodeDescriptions],
  policy: [policyDescriptions],
  rbac: [rbacDescriptions],
  resource: [resourceDescriptions],
  scheduling: [schedulingDescriptions],
  storage: [storageDescriptions],
  storagemigration: [storagemigrationDescriptions],
};
