/**
 * Deletes Secrets with bootstrap tokens when they expire.
 */
import { Secret } from '../../kinds/core/v1/secret.js';
import { StatusError } from '../../meta/errors.js';
import type { Controller } from '../runtime/controller.js';
import { isTokenSecret, msUntilExpiration, TOKEN_NAMESPACE } from './token-secret.js';

/**
 * Deletes expired bootstrap tokens. A token whose expiration is no valid time counts as expired.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([bootstrapSigner(), tokenCleaner()]) });
 */
export function tokenCleaner(): Controller {
  return {
    name: 'token-cleaner-controller',
    account: 'token-cleaner',
    needs: [Secret],
    start(context) {
      const { dialect, clock, client } = context;
      const secrets = context.informer(Secret);

      const queue = context.queue(async (key) => {
        const secret = secrets.at(key);
        if (secret === undefined || !isTokenSecret(secret, dialect)) return undefined;
        const leftMs = msUntilExpiration(secret, clock.now());
        if (leftMs > 0) return { requeueAfterMs: leftMs };
        const { name, uid } = secret.metadata;
        try {
          await client.api(Secret, TOKEN_NAMESPACE).delete(name, { preconditions: { uid } });
        } catch (error) {
          // It was deleted meanwhile, or another Secret has its name.
          if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
        }
        return undefined;
      });

      secrets.onKey((key, { type, object }) => {
        if (type !== 'DELETED' && isTokenSecret(object, dialect)) queue.add(key);
      });
    },
  };
}
