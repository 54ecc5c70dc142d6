/** Message types of the group `certificates`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const certificates: GroupTypes = {
  name: 'certificates',
  group: serviceGroup('certificates'),
  versions: [
    {
      version: 'v1',
      kinds: 'CertificateSigningRequest+',
      types: `
CertificateSigningRequest metadata:ObjectMeta spec:CertificateSigningRequestSpec
  status:CertificateSigningRequestStatus
CertificateSigningRequestCondition type reason message lastUpdateTime:Time lastTransitionTime:Time status
CertificateSigningRequestSpec request:bytes username uid groups[] usages[] extra{}:ExtraValue signerName
  expirationSeconds*:int32
CertificateSigningRequestStatus conditions[]:CertificateSigningRequestCondition certificate:bytes
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'CertificateSigningRequest+ ClusterTrustBundle+',
      types: `
CertificateSigningRequestSpec request:bytes username uid groups[] usages[] extra{}:ExtraValue signerName*
  expirationSeconds*:int32
ClusterTrustBundle metadata:ObjectMeta spec:ClusterTrustBundleSpec
ClusterTrustBundleSpec signerName trustBundle
      `,
    },
    {
      version: 'v1alpha1',
      kinds: 'ClusterTrustBundle+',
      types: `
ClusterTrustBundle metadata:ObjectMeta spec:ClusterTrustBundleSpec
ClusterTrustBundleSpec signerName trustBundle
      `,
    },
  ],
};
