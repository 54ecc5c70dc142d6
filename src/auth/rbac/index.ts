/**
 * Role-based access control.
 */
export { rbac } from './authorizer.js';
