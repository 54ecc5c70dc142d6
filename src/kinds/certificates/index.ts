/**
 * The certificates group.
 */
import type { Kind } from '../kind.js';
import { CertificateSigningRequest } from './v1/certificate-signing-request/certificate-signing-request.js';
import { ClusterTrustBundle, ClusterTrustBundleV1alpha1 } from './v1beta1/cluster-trust-bundle.js';

export { CertificateSigningRequest, ClusterTrustBundle, ClusterTrustBundleV1alpha1 };

/** The kinds of the group, in the order of discovery. */
export const certificatesKinds: readonly Kind[] = [
  CertificateSigningRequest,
  ClusterTrustBundle,
  ClusterTrustBundleV1alpha1,
];
