/** Samples of CertificateSigningRequests, which are immutable and allow any name, and ClusterTrustBundles. */
import { CertificateSigningRequest, ClusterTrustBundle, ClusterTrustBundleV1alpha1 } from 'orchplane/kinds';
import { CA, OTHER_CA, REQUEST } from '../certificates/pem.js';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const bundle = {
  body: { spec: { trustBundle: CA } },
  change: { spec: { trustBundle: OTHER_CA } },
  wireOrder: [...TYPE, 'spec'],
  deletedAtOnce: true,
  unconditionalUpdate: false,
  createOnUpdate: false,
};

export const samples: readonly KindSample[] = [
  { kind: ClusterTrustBundle, ...bundle },
  { kind: ClusterTrustBundleV1alpha1, ...bundle },
  {
    kind: CertificateSigningRequest,
    badName: 'a/b',
    body: { spec: { request: btoa(REQUEST), signerName: 'example.com/s', usages: ['client auth'] } },
    change: {},
    wireOrder: [...TYPE, 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: false,
  },
];
