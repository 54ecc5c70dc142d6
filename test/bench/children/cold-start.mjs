// A static import would run before the first line.
const start = performance.now();
const coreStart = process.cpuUsage();
const { createCluster } = await import('orchplane');
const { Namespace, Pod } = await import('orchplane/kinds');
const cluster = createCluster();
const ms = performance.now() - start;
const coreMs = milliseconds(process.cpuUsage(coreStart));
const { items } = await cluster.api(Namespace).list();
const wholeCoreMs = milliseconds(process.cpuUsage());
const podStart = performance.now();
const podCoreStart = process.cpuUsage();
const pod = await cluster
  .api(Pod)
  .create({ metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } });
const firstPod = { ms: performance.now() - podStart, coreMs: milliseconds(process.cpuUsage(podCoreStart)) };
const { phase } = pod.status;
console.log(JSON.stringify({ ms, coreMs, wholeCoreMs, namespaces: items.length, firstPod, phase }));

/** The CPU time of all threads of the process. */
function milliseconds({ user, system }) {
  return (user + system) / 1000;
}
