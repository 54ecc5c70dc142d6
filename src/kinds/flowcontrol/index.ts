/**
 * How requests share the server.
 */
import type { Kind } from '../kind.js';
import { FlowSchema } from './v1/flow-schema/flow-schema.js';
import { PriorityLevelConfiguration } from './v1/priority-level-configuration.js';

export { FlowSchema, type FlowSchemaInput } from './v1/flow-schema/flow-schema.js';
export { PriorityLevelConfiguration, type PriorityLevelConfigurationInput } from './v1/priority-level-configuration.js';

export const flowcontrolKinds: readonly Kind[] = [FlowSchema, PriorityLevelConfiguration];
