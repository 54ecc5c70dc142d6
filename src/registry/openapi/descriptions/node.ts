/** What the types of this package are for; see `meta.ts` for the notation. */
export const nodeDescriptions = `
RuntimeClass A way to run pods.
 handler The runtime, as nodes know it.
 overhead What it needs for itself.
 scheduling Which nodes have it.
Overhead What a runtime needs for itself.
 podFixed For every pod, by resource.
Scheduling Nodes that have a runtime.
 nodeSelector Labels of the nodes.
 tolerations Taints of the nodes that pods must put up with.
`;
