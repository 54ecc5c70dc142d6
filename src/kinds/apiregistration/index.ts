/**
 * Who serves which API.
 */
import type { Kind } from '../kind.js';
import { APIService } from './v1/api-service.js';

export { APIService, type APIServiceInput } from './v1/api-service.js';

export const apiregistrationKinds: readonly Kind[] = [APIService];
