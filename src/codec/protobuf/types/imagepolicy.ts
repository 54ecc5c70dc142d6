/** Message types of the group `imagepolicy`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const imagepolicy: GroupTypes = {
  name: 'imagepolicy',
  group: serviceGroup('imagepolicy'),
  versions: [
    {
      version: 'v1alpha1',
      kinds: 'ImageReview',
      types: `
ImageReview metadata:ObjectMeta spec:ImageReviewSpec status:ImageReviewStatus
ImageReviewContainerSpec image
ImageReviewSpec containers[]:ImageReviewContainerSpec annotations{} namespace
ImageReviewStatus allowed:bool reason auditAnnotations{}
      `,
    },
  ],
};
