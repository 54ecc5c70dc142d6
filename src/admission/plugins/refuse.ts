/**
 * How a plugin says no.
 */
import { errors, type StatusError } from '../../meta/errors.js';
import type { StatusCause } from '../../meta/status.js';
import type { AnyRequest } from './match.js';

/** The 403 to throw. An object that has neither a name nor a prefix for one yet is called `Unknown`. */
export function refuse({ served, name }: AnyRequest, why: string, causes: readonly StatusCause[] = []): StatusError {
  return errors.forbidden(served.groupResource, name || 'Unknown', why, causes);
}
