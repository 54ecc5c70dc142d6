/**
 * The apiregistration group: the servers of API versions.
 */
import type { Kind } from '../kind.js';
import { APIService } from './v1/api-service.js';

export { APIService } from './v1/api-service.js';

/** The kinds of the group. */
export const apiregistrationKinds: readonly Kind[] = [APIService];
