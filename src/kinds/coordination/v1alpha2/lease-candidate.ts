/**
 * LeaseCandidate as it was before: the same objects under an older version.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { always } from '../../../schema/hints.js';
import { type Type, type } from '../../../schema/type.js';
import { anotherVersion } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import {
  LeaseCandidate,
  type LeaseCandidateInput,
  type LeaseCandidateSpec,
  type LeaseCandidateSpecInput,
  leaseCandidateSpecShape,
} from '../v1beta1/lease-candidate.js';

// Only its name in messages is another one.
const leaseCandidateSpec: Type<LeaseCandidateSpec, LeaseCandidateSpecInput> = type(
  'v1alpha2.LeaseCandidateSpec',
  leaseCandidateSpecShape,
);

export interface LeaseCandidateV1alpha2 extends LeaseCandidate {}
export interface LeaseCandidateV1alpha2Input extends LeaseCandidateInput {}

export const LeaseCandidateV1alpha2: Kind<LeaseCandidateV1alpha2, LeaseCandidateV1alpha2Input, 'Namespaced', never> =
  anotherVersion(LeaseCandidate, {
    apiVersion: `${serviceGroup('coordination')}/v1alpha2`,
    lifecycle: { introducedIn: '1.32' },
    body: () => ({ spec: always(leaseCandidateSpec()) }),
  });
