/**
 * MutatingAdmissionPolicy: requests are changed by expressions that the cluster stores.
 */
export { mutatingAdmissionPolicy } from './plugin.js';
