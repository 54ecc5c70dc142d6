/**
 * Where objects of the group are found.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupResource } from '../../../meta/gvk.js';

export const FLOW_SCHEMAS: GroupResource = { group: serviceGroup('flowcontrol.apiserver'), resource: 'flowschemas' };
export const PRIORITY_LEVELS: GroupResource = { group: FLOW_SCHEMAS.group, resource: 'prioritylevelconfigurations' };
