/**
 * Signs approved CertificateSigningRequests of the built-in signers with a test authority. A request that its signer must
 * not sign gets the Failed condition; requests to other signers are ignored. spec: CertificateSigningRequest
 */

import { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { encodeBase64Text } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { type CertificateAuthority, createCertificateAuthority, usageExtensions } from './authority.js';
import { isSignedByOwnKey, readSigningRequest, type SigningRequest, signers } from './request.js';

export interface CertificateSigningOptions {
  /** The authority; a new one is created on first use unless given. */
  readonly authority?: CertificateAuthority | undefined;
  /** The validity of certificates in milliseconds, unless the request asks for less; a year unless given. */
  readonly durationMs?: number | undefined;
}

const YEAR_MS = 365 * 24 * 3_600_000;
/** Certificates start this much earlier, for clients whose clock is behind. */
const BACKDATE_MS = 5 * 60_000;
/** The minimum validity. */
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
    ...usageExtensions(spec.usages ?? []),
    notBefore: now - BACKDATE_MS,
    notAfter: Math.min(now + (ttl < SHORT_MS ? ttl : ttl - BACKDATE_MS), authority.notAfter),
    serial: context.ids.uid(),
  });
}
