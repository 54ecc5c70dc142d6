/** Message types of the group `apiregistration`, in the notation of `../notation.ts`. */
import { serviceGroup } from '../../../meta/dialect.js';
import type { GroupTypes } from '../notation.js';

export const apiregistration: GroupTypes = {
  name: 'apiregistration',
  group: serviceGroup('apiregistration'),
  versions: [
    {
      version: 'v1',
      kinds: 'APIService+',
      types: `
APIService metadata:ObjectMeta spec:APIServiceSpec status:APIServiceStatus
APIServiceCondition type status lastTransitionTime:Time reason message
APIServiceSpec service*:ServiceReference group version insecureSkipTLSVerify:bool caBundle:bytes
  groupPriorityMinimum=7:int32 versionPriority:int32
APIServiceStatus conditions[]:APIServiceCondition
ServiceReference namespace name port*:int32
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'APIService+',
      types: ``,
    },
  ],
};
