/**
 * Where cluster addresses come from when nobody has said otherwise.
 */

export const DEFAULT_SERVICE_CIDR = '10.0.0.0/16';
