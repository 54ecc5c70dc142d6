/**
 * The node group: container runtimes.
 */
import type { Kind } from '../kind.js';
import { RuntimeClass } from './v1/runtime-class.js';

export { RuntimeClass } from './v1/runtime-class.js';

/** The kinds of the group. */
export const nodeKinds: readonly Kind[] = [RuntimeClass];
