/**
 * The flowcontrol.apiserver group: API priority and fairness.
 */
import type { Kind } from '../kind.js';
import { FlowSchema } from './v1/flow-schema/flow-schema.js';
import { PriorityLevelConfiguration } from './v1/priority-level-configuration.js';

export { FlowSchema, PriorityLevelConfiguration };

/** The kinds of the group. */
export const flowcontrolKinds: readonly Kind[] = [FlowSchema, PriorityLevelConfiguration];
