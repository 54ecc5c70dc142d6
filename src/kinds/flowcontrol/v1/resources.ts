/**
 * The resources of the group.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupResource } from '../../../meta/gvk.js';

/** The resource of FlowSchemas. */
export const FLOW_SCHEMAS: GroupResource = { group: serviceGroup('flowcontrol.apiserver'), resource: 'flowschemas' };
/** The resource of priority levels. */
export const PRIORITY_LEVELS: GroupResource = { group: FLOW_SCHEMAS.group, resource: 'prioritylevelconfigurations' };
