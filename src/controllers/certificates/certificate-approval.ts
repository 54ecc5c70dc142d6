/**
 * Approves kubelet client certificates for requesters with permission: a node that renews its own certificate, or a user who
 * may create node certificates. spec: CertificateSigningRequest
 */

import { SubjectAccessReview } from '../../kinds/authorization/v1/access-review.js';
import { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { withoutUndefined } from '../../util/json.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { kubeletClientProblem, readSigningRequest } from './request.js';

/**
 * Approves kubelet client certificates.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([certificateApproval(), certificateSigning()]) });
 */
export function certificateApproval(): Controller {
  return {
    name: 'certificatesigningrequest-approving-controller',
    account: 'certificate-controller',
    needs: [CertificateSigningRequest, SubjectAccessReview],
    start(context) {
      const requests = context.informer(CertificateSigningRequest);
      const signerName = context.dialect.key('kube-apiserver-client-kubelet');

      const queue = context.queue(
        async (name) => {
          const csr = requests.at(name);
          if (csr === undefined || !isOpen(csr)) return;
          const request = readSigningRequest(csr.spec.request);
          if (kubeletClientProblem(request, csr.spec.usages ?? []) !== undefined) return;
          const tried: string[] = [];
          for (const { subresource, message, needsOwnName } of PERMISSIONS) {
            if (needsOwnName && csr.spec.username !== request.commonName) continue;
            tried.push(subresource);
            if (!(await isAllowed(context, csr, subresource))) continue;
            const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message } as const;
            const status = { ...csr.status, conditions: [...(csr.status.conditions ?? []), approved] };
            const api = context.client.api(CertificateSigningRequest);
            await api.subresource('approval').update(name, { ...csr, status });
            return;
          }
          // The queue retries with backoff, because roles may change.
          throw new Error(
            `recognized csr "${name}" as [${tried.join(' ')}] but subject access review was not approved`,
          );
        },
        { backoff: { firstMs: 200, longestMs: 1_000_000 } },
      );

      requests.onKey((name, { type, object }) => {
        if (type !== 'DELETED' && object.spec.signerName === signerName && isOpen(object)) queue.add(name);
      });
    },
  };
}

/** The permissions that approve a request; each is a subresource in a SubjectAccessReview. */
const PERMISSIONS = [
  {
    subresource: 'selfnodeclient',
    needsOwnName: true,
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  {
    subresource: 'nodeclient',
    needsOwnName: false,
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
  },
] as const;

type StoredRequest = ObjectOf<typeof CertificateSigningRequest>;

function isOpen({ status }: StoredRequest): boolean {
  if (status.certificate !== undefined && status.certificate !== '') return false;
  return !(status.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');
}

async function isAllowed(
  { client, dialect }: ControllerContext,
  { spec }: StoredRequest,
  subresource: string,
): Promise<boolean> {
  const { username, uid, groups, extra } = spec;
  const review = await client.api(SubjectAccessReview).create({
    spec: {
      ...withoutUndefined({ user: username, uid, groups, extra }),
      resourceAttributes: {
        verb: 'create',
        group: dialect.group(CertificateSigningRequest.group),
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
      },
    },
  });
  return review.status?.allowed === true;
}
