/**
 * The controllers of CertificateSigningRequests. spec: Notable changes in replacements
 *
 * Signing: signs approved requests of the built-in signers with a test authority. A request that its signer must not sign
 * gets the Failed condition; requests to other signers are ignored.
 *
 * Approval: approves kubelet client certificates for requesters with permission: a node that renews its own certificate, or a
 * user who may create node certificates.
 *
 * Cleaning: deletes requests an hour after the answer, when the certificate has expired, or a day after creation without an
 * answer. An approved request that waits for its certificate is kept.
 */

import { SubjectAccessReview } from '../../kinds/authorization/v1/access-review.js';
import { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { timeToMs } from '../../text/time/time.js';
import { DerError } from '../../text/x509/der.js';
import { firstPemBlockIn } from '../../text/x509/pem.js';
import { encodeBase64Text } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';
import { withoutUndefined } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoring } from '../runtime/expected-errors.js';
import { type CertificateAuthority, createCertificateAuthority, notAfterOf, usageExtensions } from './authority.js';
import {
  isSignedByOwnKey,
  kubeletClientProblem,
  readSigningRequest,
  type SigningRequest,
  signers,
  subjectOf,
} from './request.js';

export interface CertificateSigningOptions {
  /** The authority; a new one is created on first use unless given. */
  readonly authority?: CertificateAuthority | undefined;
  /** The validity of certificates in milliseconds, unless the request asks for less; a year unless given. */
  readonly durationMs?: number | undefined;
}

const YEAR_MS = 365 * 24 * 3_600_000;
/** Certificates start this much earlier, for clients whose clock is behind. */
const BACKDATE_MS = 5 * 60_000;
const SHORTEST_MS = 10 * 60_000;
/** Below this validity the backdating does not shorten the end. */
const SHORT_MS = 8 * 3_600_000;

/**
 * Signs certificates with the given authority, or with one that is created on first use.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([certificateApproval(), certificateSigning()]) });
 */
export function certificateSigning(options: CertificateSigningOptions = {}): Controller {
  refuseUnknownOptions('certificateSigning', options, ['authority', 'durationMs']);
  const { authority: given, durationMs = YEAR_MS } = options;
  return {
    name: 'certificatesigningrequest-signing-controller',
    account: 'certificate-controller',
    needs: [CertificateSigningRequest],
    start(context) {
      const requests = context.informer(CertificateSigningRequest);
      const checks = signers(context.dialect);
      const api = context.client.api(CertificateSigningRequest);
      let created: Promise<CertificateAuthority> | undefined;

      const queue = context.queue(async (name) => {
        const csr = requests.at(name);
        if (csr === undefined || !isToBeSigned(csr)) return;
        const { signerName, request, usages = [] } = csr.spec;
        const check = checks.get(signerName);
        if (check === undefined) return;
        const parsed = readSigningRequest(request);
        const problem = check(parsed, usages);
        if (problem !== undefined) {
          const failed = {
            type: 'Failed',
            status: 'True',
            reason: 'SignerValidationFailure',
            message: problem,
            lastUpdateTime: context.now(),
          } as const;
          const conditions = [...(csr.status.conditions ?? []), failed];
          await api.status.update(name, { ...csr, status: { ...csr.status, conditions } });
          return;
        }
        created ??=
          given === undefined ? createCertificateAuthority({ now: context.clock.now() }) : Promise.resolve(given);
        const certificate = await sign(parsed, csr, { context, authority: await created, durationMs });
        await api.status.update(name, {
          ...csr,
          status: { ...csr.status, certificate: encodeBase64Text(certificate) },
        });
      });

      requests.onKey((name, { type, object }) => {
        if (type !== 'DELETED' && checks.has(object.spec.signerName) && isToBeSigned(object)) queue.add(name);
      });
    },
  };
}

type StoredRequest = ObjectOf<typeof CertificateSigningRequest>;

function isToBeSigned({ status }: StoredRequest): boolean {
  if (status.certificate !== undefined && status.certificate !== '') return false;
  const conditions = status.conditions ?? [];
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  const isFailed = conditions.some((condition) => condition.type === 'Failed' && condition.status === 'True');
  return has('Approved') && !has('Denied') && !isFailed;
}

interface SigningContext {
  readonly context: ControllerContext;
  readonly authority: CertificateAuthority;
  readonly durationMs: number;
}

async function sign(request: SigningRequest, { spec }: StoredRequest, signing: SigningContext): Promise<string> {
  const { context, authority, durationMs } = signing;
  const subtle = subtleCrypto();
  if (subtle === undefined || !(await isSignedByOwnKey(request, subtle))) {
    throw new Error('error auto signing csr: unable to verify certificate request signature');
  }
  const now = context.clock.now();
  const { expirationSeconds } = spec;
  const wanted = expirationSeconds === undefined ? durationMs : Math.max(expirationSeconds * 1000, SHORTEST_MS);
  const ttl = Math.min(wanted, durationMs);
  if (now >= authority.notAfter) throw new Error('error auto signing csr: the signer has expired');
  return authority.issue({
    ...request,
    subject: subjectOf(request),
    ...usageExtensions(spec.usages ?? []),
    notBefore: now - BACKDATE_MS,
    notAfter: Math.min(now + (ttl < SHORT_MS ? ttl : ttl - BACKDATE_MS), authority.notAfter),
    serial: context.ids.uid(),
  });
}

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
        const preconditions = { uid: csr.metadata.uid };
        // Another client may have deleted it, or created another request with its name.
        await ignoring(
          ['NotFound', 'Conflict'],
          context.client.api(CertificateSigningRequest).delete(name, { preconditions }),
        );
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
function expiriesOf({ metadata, status }: StoredRequest): readonly number[] {
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
  const block = firstPemBlockIn(base64);
  if (block === undefined) return Infinity;
  try {
    return notAfterOf(block.bytes);
  } catch (error) {
    // A certificate that cannot be parsed does not expire.
    if (error instanceof DerError) return Infinity;
    throw error;
  }
}
