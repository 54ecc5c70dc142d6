/**
 * Serves a cluster whose pods are processes in Linux namespaces, for conformance-pods.sh. Arguments: the port, the file for
 * the kubeconfig, the folder with agnhost, and a folder with the files of a busybox image.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [port, kubeconfig, agnhostFolder, busyboxRoot] = process.argv.slice(2);
const dist = process.env['DIST'] ?? new URL('../../dist', import.meta.url).href;
const { createCluster } = await import(`${dist}/index.js`);
const { defaultAdmission, inReferenceOrder, serviceAccount } = await import(`${dist}/admission/index.js`);
const { controllers, standardControllers } = await import(`${dist}/controllers/index.js`);
const { bridgeSockets, processImages, serve } = await import(`${dist}/node/index.js`);
const { runtime } = await import(`${dist}/runtime/index.js`);

const registry = 'registry.k8s.io';
const programs = Object.fromEntries(
  ['agnhost', 'agnhost-2', 'localhost.crt', 'localhost.key'].map((name) => [`/${name}`, join(agnhostFolder, name)]),
);
const agnhost = { command: ['/agnhost'], args: ['pause'], programs };
const busybox = { command: [], args: ['sh'], root: busyboxRoot };
const serving = (folder) => ({
  command: [],
  args: ['/bin/busybox', 'httpd', '-f', '-p', '80', '-h', folder],
  root: busyboxRoot,
});
const httpd = serving('/usr/local/apache2/htdocs');
const images = processImages(
  {
    [`${registry}/e2e-test-images/agnhost`]: agnhost,
    [`${registry}/pause`]: agnhost,
    [`${registry}/e2e-test-images/busybox`]: busybox,
    busybox,
    // Images with a web server or with tools: the tests use nothing else of them.
    [`${registry}/e2e-test-images/httpd`]: httpd,
    [`${registry}/e2e-test-images/nginx`]: httpd,
    [`${registry}/e2e-test-images/nautilus`]: serving('/nautilus'),
    [`${registry}/e2e-test-images/jessie-dnsutils`]: { command: [], args: ['sleep', '10000'] },
  },
  { isolation: 'namespaces' },
);
const cluster = createCluster({
  dialect: 'kubernetes',
  admission: inReferenceOrder([...defaultAdmission, serviceAccount]),
  controllers: controllers([
    ...standardControllers(),
    ...runtime({ images, nodes: ['node-1', 'node-2'], hostPath: true, network: { sockets: bridgeSockets } }),
  ]),
});
const server = await serve(cluster, {
  port: Number(port),
  host: '0.0.0.0',
  tls: true,
  clientCa: true,
  tokens: { 'admin-token': { user: 'admin', groups: ['system:masters'] } },
});
writeFileSync(kubeconfig, server.kubeconfig);
process.once('SIGTERM', async () => {
  await server.close();
  await cluster.close();
});
