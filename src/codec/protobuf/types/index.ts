/** Every group whose types are known beforehand, in order of name. */
import type { GroupTypes } from '../notation.js';
import { admission } from './admission.js';
import { admissionregistration } from './admissionregistration.js';
import { apidiscovery } from './apidiscovery.js';
import { apiextensions } from './apiextensions.js';
import { apiregistration } from './apiregistration.js';
import { apps } from './apps.js';
import { authentication } from './authentication.js';
import { authorization } from './authorization.js';
import { autoscaling } from './autoscaling.js';
import { batch } from './batch.js';
import { certificates } from './certificates.js';
import { coordination } from './coordination.js';
import { core } from './core.js';
import { discovery } from './discovery.js';
import { events } from './events.js';
import { extensions } from './extensions.js';
import { flowcontrol } from './flowcontrol.js';
import { imagepolicy } from './imagepolicy.js';
import { internal } from './internal.js';
import { meta } from './meta.js';
import { networking } from './networking.js';
import { node } from './node.js';
import { policy } from './policy.js';
import { rbac } from './rbac.js';
import { resource } from './resource.js';
import { scheduling } from './scheduling.js';
import { storage } from './storage.js';
import { storagemigration } from './storagemigration.js';

export const groups: readonly GroupTypes[] = [
  admission,
  admissionregistration,
  apidiscovery,
  apiextensions,
  apiregistration,
  apps,
  authentication,
  authorization,
  autoscaling,
  batch,
  certificates,
  coordination,
  core,
  discovery,
  events,
  extensions,
  flowcontrol,
  imagepolicy,
  internal,
  meta,
  networking,
  node,
  policy,
  rbac,
  resource,
  scheduling,
  storage,
  storagemigration,
];
