/** What the types of this package are for; see `meta.ts` for the notation. */
export const policyDescriptions = `
PodDisruptionBudget How many pods may be missing on purpose.
PodDisruptionBudgetSpec The pods and the bound.
 selector Selects the pods.
 minAvailable How many must stay, as a number or a percentage.
 maxUnavailable How many may be missing, as a number or a percentage.
 unhealthyPodEvictionPolicy When pods that are not healthy may go: IfHealthyBudget or AlwaysAllow.
PodDisruptionBudgetStatus The state of the budget.
 disruptedPods Pods that are about to go, and since when.
 disruptionsAllowed How many pods may go now.
 currentHealthy How many are healthy.
 desiredHealthy How many should be.
 expectedPods How many pods count.
Eviction Asks a pod to go, if its budgets allow.
 deleteOptions How the pod is to be deleted.
`;
