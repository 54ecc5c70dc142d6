/**
 * LeaseCandidate in v1alpha2, with the fields of v1beta1.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion } from '../../define-kind.js';
import { leaseCandidateBody } from '../../generated/coordination-v1alpha2.js';
import type { LeaseCandidateInput } from '../../generated/coordination-v1beta1.js';
import type { Kind } from '../../kind.js';
import { LeaseCandidate } from '../v1beta1/lease-candidate.js';

export interface LeaseCandidateV1alpha2 extends LeaseCandidate {}
export interface LeaseCandidateV1alpha2Input extends LeaseCandidateInput {}

export const LeaseCandidateV1alpha2: Kind<LeaseCandidateV1alpha2, LeaseCandidateV1alpha2Input, 'Namespaced', never> =
  anotherVersion(LeaseCandidate, {
    apiVersion: `${serviceGroup('coordination')}/v1alpha2`,
    lifecycle: { introducedIn: '1.32' },
    body: leaseCandidateBody,
  });
