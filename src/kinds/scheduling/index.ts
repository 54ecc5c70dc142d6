/**
 * Priorities of Pods.
 */
import type { Kind } from '../kind.js';
import { PriorityClass } from './v1/priority-class.js';

export { PriorityClass, type PriorityClassInput } from './v1/priority-class.js';

export const schedulingKinds: readonly Kind[] = [PriorityClass];
