/** Message types of the group `authentication`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const authentication: GroupTypes = {
  name: 'authentication',
  group: serviceGroup('authentication'),
  versions: [
    {
      version: 'v1',
      kinds: 'SelfSubjectReview TokenRequest TokenReview',
      types: `
BoundObjectReference kind apiVersion name uid
SelfSubjectReview metadata:ObjectMeta status:SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo:UserInfo
TokenRequest metadata:ObjectMeta spec:TokenRequestSpec status:TokenRequestStatus
TokenRequestSpec audiences[] boundObjectRef=3*:BoundObjectReference expirationSeconds*:int64
TokenRequestStatus token expirationTimestamp:Time
TokenReview metadata:ObjectMeta spec:TokenReviewSpec status:TokenReviewStatus
TokenReviewSpec token audiences[]
TokenReviewStatus authenticated:bool user:UserInfo error audiences[]
UserInfo username uid groups[] extra{}:ExtraValue
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'SelfSubjectReview TokenReview',
      types: `
SelfSubjectReviewStatus userInfo:authentication/v1/UserInfo
      `,
    },
    {
      version: 'v1alpha1',
      like: 'v1',
      kinds: 'SelfSubjectReview',
      types: ``,
    },
  ],
};
