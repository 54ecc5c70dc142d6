/**
 * The scheduling group: pod priorities.
 */
import type { Kind } from '../kind.js';
import { PriorityClass } from './v1/priority-class.js';

export { PriorityClass } from './v1/priority-class.js';

/** The kinds of the group. */
export const schedulingKinds: readonly Kind[] = [PriorityClass];
