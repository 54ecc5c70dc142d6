/**
 * Admission webhooks: somebody outside of the server is asked about a request.
 */
export { mutatingAdmissionWebhook } from './mutating.js';
export { validatingAdmissionWebhook } from './validating.js';
