// A static import would run before the first line.
const start = performance.now();
const coreStart = process.cpuUsage();
const { createCluster } = await import('../../../dist/index.js');
const { Namespace } = await import('../../../dist/kinds/index.js');
const cluster = createCluster();
const ms = performance.now() - start;
const coreMs = milliseconds(process.cpuUsage(coreStart));
const { items } = await cluster.api(Namespace).list();
console.log(JSON.stringify({ ms, coreMs, wholeCoreMs: milliseconds(process.cpuUsage()), namespaces: items.length }));

/** The CPU time of all threads of the process. */
function milliseconds({ user, system }) {
  return (user + system) / 1000;
}
