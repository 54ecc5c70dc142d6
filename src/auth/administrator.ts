import type { User } from '../protocol/request.js';

/** Who a request comes from that does not say, in this process or through a handler that knows nobody. */
export const ADMINISTRATOR: User = Object.freeze({
  user: 'system:admin',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
});
