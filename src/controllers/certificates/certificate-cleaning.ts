/**
 * Deletes old CertificateSigningRequests: an hour after the answer, when the certificate has expired, or a day after creation
 * without an answer. An approved request that waits for its certificate is kept.
 */

import { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import { DerError } from '../../text/x509/der.js';
import { firstPemBlock } from '../../text/x509/pem.js';
import { decodeBase64Text } from '../../util/base64.js';
import type { Controller } from '../runtime/controller.js';
import { notAfterOf } from './authority.js';

const ANSWERED_MS = 3_600_000;
const PENDING_MS = 24 * 3_600_000;

/**
 * Deletes old certificate signing requests.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([certificateCleaning()]) });
 */
export function certificateCleaning(): Controller {
  return {
    name: 'certificatesigningrequest-cleaner-controller',
    account: 'certificate-controller',
    needs: [CertificateSigningRequest],
    start(context) {
      const requests = context.informer(CertificateSigningRequest);

      const queue = context.queue(async (name) => {
        const csr = requests.at(name);
        if (csr === undefined || csr.metadata.deletionTimestamp !== undefined) return undefined;
        const end = Math.min(...expiriesOf(csr));
        const now = context.clock.now();
        // Strictly greater than the limit.
        if (now <= end) return end === Infinity ? undefined : { requeueAfterMs: end - now + 1 };
        try {
          await context.client
            .api(CertificateSigningRequest)
            .delete(name, { preconditions: { uid: csr.metadata.uid } });
        } catch (error) {
          // Another client deleted it, or created another request with its name.
          if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
        }
        return undefined;
      });

      requests.onKey((name, { type }) => {
        if (type === 'DELETED') queue.cancelDelay(name);
        else queue.add(name);
      });
    },
  };
}

/** The times after which the request may be deleted, one for each applicable rule. */
function expiriesOf({ metadata, status }: ObjectOf<typeof CertificateSigningRequest>): readonly number[] {
  const { conditions = [], certificate = '' } = status;
  if (conditions.length === 0) return [timeToMs(metadata.creationTimestamp) + PENDING_MS];
  const ends = [Infinity];
  for (const { type, lastUpdateTime } of conditions) {
    const isAnswer = type === 'Denied' || type === 'Failed' || (type === 'Approved' && certificate !== '');
    if (isAnswer && typeof lastUpdateTime === 'string') ends.push(timeToMs(lastUpdateTime) + ANSWERED_MS);
    if (type === 'Approved' && certificate !== '') ends.push(certificateEnd(certificate));
  }
  return ends;
}

function certificateEnd(base64: string): number {
  const block = firstPemBlock(decodeBase64Text(base64));
  if (block === undefined) return Infinity;
  try {
    return notAfterOf(block.bytes);
  } catch (error) {
    // A certificate that cannot be parsed does not expire.
    if (error instanceof DerError) return Infinity;
    throw error;
  }
}
