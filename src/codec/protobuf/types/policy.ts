/** Message types of the group `policy`, in the notation of `../notation.ts`. */
import type { GroupTypes } from '../notation.js';

export const policy: GroupTypes = {
  name: 'policy',
  group: 'policy',
  versions: [
    {
      version: 'v1',
      kinds: 'Eviction PodDisruptionBudget+',
      types: `
Eviction metadata:ObjectMeta deleteOptions*:DeleteOptions
PodDisruptionBudget metadata:ObjectMeta spec:PodDisruptionBudgetSpec status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec minAvailable*:IntOrString selector*:LabelSelector maxUnavailable*:IntOrString
  unhealthyPodEvictionPolicy*
PodDisruptionBudgetStatus observedGeneration:int64 disruptedPods{}:Time disruptionsAllowed:int32
  currentHealthy:int32 desiredHealthy:int32 expectedPods:int32 conditions[]:Condition
      `,
    },
    {
      version: 'v1beta1',
      like: 'v1',
      kinds: 'Eviction PodDisruptionBudget+',
      types: ``,
    },
  ],
};
