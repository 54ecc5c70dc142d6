/**
 * Signs approved CertificateSigningRequests of the service's own signers with an authority for tests. A request that its
 * signer may not sign fails for good; requests to other signers are left to those. spec: CertificateSigningRequest
 */
import type { Stored } from '../../client/api.js';
import { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import { encodeBase64Text } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { type CertificateAuthority, createCertificateAuthority } from './authority.js';
import { isSignedByItsKey, readSigningRequest, type SigningRequest } from './request.js';
import { signers } from './signers.js';
import { usageExtensions } from './usages.js';

export interface CertificateSigningOptions {
  /** Who signs; one that is made for the occasion unless given. */
  readonly authority?: CertificateAuthority | undefined;
  /** How long certificates are good for, in milliseconds, unless less is asked for; a year unless given. */
  readonly durationMs?: number | undefined;
}

const YEAR_MS = 365 * 24 * 3_600_000;
/** Certificates begin a little earlier, for clocks that are behind. */
const BACKDATE_MS = 5 * 60_000;
/** Nobody gets one for less. */
const SHORTEST_MS = 10 * 60_000;
/** Up to here the backdating does not cost the end of its validity. */
const SHORT_MS = 8 * 3_600_000;

/**
 * Signs certificates. What it signs with is made when it is needed first, or comes from `createCertificateAuthority()`.
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
      let made: Promise<CertificateAuthority> | undefined;

      const queue = context.queue(async (name) => {
        const csr = requests.at(name);
        if (csr === undefined || !isToBeSigned(csr)) return;
        const { signerName, request, usages = [] } = csr.spec;
        const check = checks.get(signerName);
        if (check === undefined) return;
        const asked = readSigningRequest(request);
        const problem = check(asked, usages);
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
        made ??=
          given === undefined ? createCertificateAuthority({ now: context.clock.now() }) : Promise.resolve(given);
        const certificate = await sign(asked, csr, { context, authority: await made, durationMs });
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

type StoredRequest = Stored<typeof CertificateSigningRequest>;

function isToBeSigned({ status }: StoredRequest): boolean {
  if (status.certificate !== undefined && status.certificate !== '') return false;
  const conditions = status.conditions ?? [];
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  const isFailed = conditions.some((condition) => condition.type === 'Failed' && condition.status === 'True');
  return has('Approved') && !has('Denied') && !isFailed;
}

interface Means {
  readonly context: ControllerContext;
  readonly authority: CertificateAuthority;
  readonly durationMs: number;
}

async function sign(asked: SigningRequest, { spec }: StoredRequest, means: Means): Promise<string> {
  const { context, authority, durationMs } = means;
  const subtle = subtleCrypto();
  if (subtle === undefined || !(await isSignedByItsKey(asked, subtle))) {
    throw new Error('error auto signing csr: unable to verify certificate request signature');
  }
  const now = context.clock.now();
  const { expirationSeconds } = spec;
  const wanted = expirationSeconds === undefined ? durationMs : Math.max(expirationSeconds * 1000, SHORTEST_MS);
  const ttl = Math.min(wanted, durationMs);
  if (now >= authority.notAfter) throw new Error('error auto signing csr: the signer has expired');
  return authority.issue({
    ...asked,
    ...usageExtensions(spec.usages ?? []),
    notBefore: now - BACKDATE_MS,
    notAfter: Math.min(now + (ttl < SHORT_MS ? ttl : ttl - BACKDATE_MS), authority.notAfter),
    serial: context.ids.uid(),
  });
}
