/**
 * How nodes run containers.
 */
import type { Kind } from '../kind.js';
import { RuntimeClass } from './v1/runtime-class.js';

export { RuntimeClass, type RuntimeClassInput } from './v1/runtime-class.js';

export const nodeKinds: readonly Kind[] = [RuntimeClass];
