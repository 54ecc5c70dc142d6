/**
 * The plugins that are on by default; position is order.
 */
import type { AdmissionPlugin } from '../types.js';
import { namespaceLifecycle } from './namespace-lifecycle.js';

export const defaultAdmission: readonly AdmissionPlugin[] = Object.freeze([namespaceLifecycle]);
