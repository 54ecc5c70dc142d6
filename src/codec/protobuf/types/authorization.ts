/** Message types of the group `authorization`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const authorization: GroupTypes = {
  name: 'authorization',
  group: serviceGroup('authorization'),
  versions: [
    {
      version: 'v1',
      kinds: 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
      types: `
FieldSelectorAttributes rawSelector requirements[]:FieldSelectorRequirement
LabelSelectorAttributes rawSelector requirements[]:LabelSelectorRequirement
LocalSubjectAccessReview metadata:ObjectMeta spec:SubjectAccessReviewSpec status:SubjectAccessReviewStatus
NonResourceAttributes path verb
NonResourceRule verbs[] nonResourceURLs[]
ResourceAttributes namespace verb group version resource subresource name fieldSelector*:FieldSelectorAttributes
  labelSelector*:LabelSelectorAttributes
ResourceRule verbs[] apiGroups[] resources[] resourceNames[]
SelfSubjectAccessReview metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec status:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes*:ResourceAttributes nonResourceAttributes*:NonResourceAttributes
SelfSubjectRulesReview metadata:ObjectMeta spec:SelfSubjectRulesReviewSpec status:SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec namespace
SubjectAccessReview metadata:ObjectMeta spec:SubjectAccessReviewSpec status:SubjectAccessReviewStatus
SubjectAccessReviewSpec resourceAttributes*:ResourceAttributes nonResourceAttributes*:NonResourceAttributes user
  groups[] extra{}:ExtraValue uid
SubjectAccessReviewStatus allowed:bool reason evaluationError denied:bool
SubjectRulesReviewStatus resourceRules[]:ResourceRule nonResourceRules[]:NonResourceRule incomplete:bool
  evaluationError
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
      types: `
SubjectAccessReviewSpec resourceAttributes*:ResourceAttributes nonResourceAttributes*:NonResourceAttributes user
  group[] extra{}:ExtraValue uid
      `,
    },
  ],
};
