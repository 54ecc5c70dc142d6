/** What the types of this package are for; see `meta.ts` for the notation. */
export const schedulingDescriptions = `
PriorityClass A priority for pods, by name.
 value The priority; higher goes first.
 globalDefault Pods without a class get this one; the smallest, if several say so.
 description What the class is for.
 preemptionPolicy Whether other pods may have to go: PreemptLowerPriority or Never.
`;
