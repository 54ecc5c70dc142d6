/**
 * The plugins that protect signers: who may approve certificate signing requests, sign them, and publish trust bundles.
 * Each is a verb on the virtual resource `signers`.
 * spec: ClusterTrustBundle, Notable changes in replacements
 */

import type { CertificateSigningRequest } from '../../kinds/certificates/v1/certificate-signing-request/certificate-signing-request.js';
import type { ClusterTrustBundle } from '../../kinds/certificates/v1beta1/cluster-trust-bundle.js';
import { isGarbageCollectionUpdate } from '../../kinds/shared/strategies.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { readCertificateRequest } from '../../text/x509/certificate.js';
import { firstPemBlockIn } from '../../text/x509/pem.js';
import { deepEqual } from '../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { builtIn, forbiddenError, isRequestFor, kindsOf } from './requests.js';

const GROUP = serviceGroup('certificates');
const isSigningRequest = kindsOf([GROUP, 'certificatesigningrequests']);

/** Requires the verb `approve`. The signer of the live object counts: updates cannot change it. */
export const certificateApproval = /* @__PURE__ */ builtIn('CertificateApproval', {
  handlesKind: isSigningRequest,
  validate(request, view) {
    if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return;
    const { signerName } = asSigningRequest(request.oldObject).spec;
    if (isAuthorizedForSigner(signerName, 'approve', { request, view })) return;
    throw forbiddenError(request, `user not permitted to approve requests with signerName ${quote(signerName)}`);
  },
});

/** Requires the verb `sign` to change the certificate or the conditions. */
export const certificateSigning = /* @__PURE__ */ builtIn('CertificateSigning', {
  handlesKind: isSigningRequest,
  validate(request, view) {
    if (request.operation !== 'UPDATE' || request.subresource !== 'status') return;
    const [next, live] = [asSigningRequest(request.object), asSigningRequest(request.oldObject)];
    const isSame = next.status.certificate === live.status.certificate;
    if (isSame && deepEqual(next.status.conditions ?? [], live.status.conditions ?? [])) return;
    const { signerName } = live.spec;
    if (isAuthorizedForSigner(signerName, 'sign', { request, view })) return;
    throw forbiddenError(request, `user not permitted to sign requests with signerName ${quote(signerName)}`);
  },
});

/** Rejects client certificates for the group `system:masters`. */
export const certificateSubjectRestriction = /* @__PURE__ */ builtIn('CertificateSubjectRestriction', {
  handlesKind: isSigningRequest,
  validate(request, { dialect }) {
    if (request.operation !== 'CREATE' || !isRequestFor(request, GROUP, 'certificatesigningrequests')) return;
    const { signerName, request: encoded } = asSigningRequest(request.object).spec;
    if (signerName !== dialect.key('kube-apiserver-client')) return;
    // Validation of the kind checks that the request can be parsed.
    const block = firstPemBlockIn(encoded);
    const parsed = block && readCertificateRequest(block.bytes);
    if (parsed?.organizations.includes('system:masters') !== true) return;
    throw forbiddenError(request, `use of ${signerName} signer with system:masters group is not allowed`);
  },
});

/** Requires the verb `attest`. The signer of a bundle is immutable, so either object has it. */
export const clusterTrustBundleAttest = /* @__PURE__ */ builtIn('ClusterTrustBundleAttest', {
  handlesKind: kindsOf([GROUP, 'clustertrustbundles']),
  validate(request, view) {
    const { object, oldObject } = request;
    if (object === undefined || !view.features.enabled('ClusterTrustBundle')) return;
    const { signerName = '' } = object['spec'] as ClusterTrustBundle['spec'];
    if (signerName === '') return;
    // Storage migration and the garbage collector do not change the content.
    if (oldObject !== undefined && isGarbageCollectionUpdate(object, oldObject)) return;
    if (isAuthorizedForSigner(signerName, 'attest', { request, view })) return;
    throw forbiddenError(request, `user not permitted to attest for signerName ${quote(signerName)}`);
  },
});

function asSigningRequest(object: ApiObject | undefined): CertificateSigningRequest {
  return object as unknown as CertificateSigningRequest;
}

/** Whether the user has the verb for the signer or for its domain: `example.com/*`. */
function isAuthorizedForSigner(
  signerName: string,
  verb: string,
  { request, view }: { readonly request: AdmissionRequest; readonly view: ClusterView },
): boolean {
  const [domain = ''] = signerName.split('/');
  return [signerName, `${domain}/*`].some(
    (name) =>
      view.authorize(request.user, {
        type: 'resource',
        verb,
        group: view.dialect.group(GROUP),
        version: '*',
        resource: 'signers',
        subresource: '',
        namespace: '',
        name,
      }).allowed,
  );
}
