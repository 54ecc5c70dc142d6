/** A served cluster with a node, pods and a fake runtime. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AuditLog, type Cluster, createCluster } from 'orchplane';
import { Endpoints, Node, Pod, Service } from 'orchplane/kinds';
import { type ServedCluster, serve } from 'orchplane/node';
import { buildHttpThread } from '../../unit/node/http-thread-file.js';
import { createFakeRuntime, type FakeRuntime } from '../../unit/runtime/fake-runtime.js';

export interface ServedRuntime extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly server: ServedCluster;
  readonly fake: FakeRuntime;
  readonly kubeconfig: string;
  /** Errors that the server reported. */
  readonly errors: unknown[];
}

export const TOKEN = 'secret';

export interface ServedRuntimeOptions {
  /** Whether the HTTP server has a thread of its own. */
  readonly thread: boolean;
  readonly audit?: AuditLog;
}

/** Has the pod `web`, the service `web` and the node `n1`. */
export async function serveRuntime({ thread, audit }: ServedRuntimeOptions): Promise<ServedRuntime> {
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-runtime-'));
  const cluster = createCluster({ dialect: 'kubernetes', ...(audit === undefined ? {} : { audit }) });
  const fake = createFakeRuntime();
  cluster.runtimeSlot.runtime = fake;
  await createObjects(cluster);
  const kubeconfig = join(folder, 'kubeconfig');
  const errors: unknown[] = [];
  const server = await serve(cluster, {
    tls: true,
    token: TOKEN,
    kubeconfig,
    thread: thread && buildHttpThread(),
    onError: (error) => errors.push(error),
  });
  return {
    cluster,
    server,
    fake,
    kubeconfig,
    errors,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await cluster.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Creates the node, the pod and the service. */
export async function createObjects(cluster: Cluster): Promise<void> {
  await createPod(cluster);
  await cluster.api(Service).create({
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] },
  });
  await cluster.api(Endpoints).create({
    metadata: { name: 'web' },
    subsets: [{ addresses: [{ ip: '10.0.0.7' }], ports: [{ name: 'http', port: 80 }] }],
  });
}

/** Creates the node and the pod. */
export async function createPod(cluster: Cluster): Promise<void> {
  const nodes = cluster.api(Node);
  await nodes.create({ metadata: { name: 'n1' } });
  const addresses = [{ type: 'InternalIP' as const, address: '10.0.0.1' }];
  await nodes.status.update('n1', { ...(await nodes.get('n1')), status: { addresses } });
  const pods = cluster.api(Pod);
  await pods.create({
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'web', ports: [{ containerPort: 80 }] }] },
  });
  const status = {
    phase: 'Running' as const,
    podIP: '10.0.0.7',
    podIPs: [{ ip: '10.0.0.7' }],
    conditions: [{ type: 'Ready', status: 'True' as const }],
  };
  await pods.status.update('web', { ...(await pods.get('web')), status });
}
