/** Message types of the group `admission`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const admission: GroupTypes = {
  name: 'admission',
  group: serviceGroup('admission'),
  versions: [
    {
      version: 'v1',
      kinds: 'AdmissionReview',
      types: `
AdmissionRequest uid kind:GroupVersionKind resource:GroupVersionResource subResource name namespace operation
  userInfo:authentication/v1/UserInfo object:RawExtension oldObject:RawExtension dryRun*:bool options:RawExtension
  requestKind*:GroupVersionKind requestResource*:GroupVersionResource requestSubResource
AdmissionResponse uid allowed:bool status*:Status patch:bytes patchType* auditAnnotations{} warnings[]
AdmissionReview request*:AdmissionRequest response*:AdmissionResponse
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'AdmissionReview',
      types: ``,
    },
  ],
};
