/**
 * A cluster with a network, and pods whose status and servers the tests set.
 */
import { controllers, endpointSlices } from 'orchplane/controllers';
import {
  EndpointSlice,
  type EndpointSliceInput,
  Namespace,
  NetworkPolicy,
  type NetworkPolicyInput,
  Node,
  Pod,
  type PodInput,
  Service,
  type ServiceInput,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { createNetwork, type NetworkOptions } from '../../../../src/runtime/network/network.js';
import type { ClusterNetwork, PodServer, Source } from '../../../../src/runtime/network/types.js';

export interface PodSetup {
  readonly labels?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly ready?: boolean;
  readonly ips?: readonly string[];
  readonly phase?: 'Running' | 'Succeeded';
  readonly spec?: Partial<PodInput['spec']>;
}

export interface Networked {
  readonly cluster: TestCluster;
  readonly network: ClusterNetwork;
  readonly failures: string[];
  namespace(name: string, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** Creates a pod `namespace/name` with this address. */
  pod(key: string, ip: string, setup?: PodSetup): Promise<void>;
  /** Creates a Service `namespace/name` of the pods with the label `app: name`. */
  service(key: string, spec?: ServiceInput['spec']): Promise<void>;
  slice(key: string, slice: Omit<EndpointSliceInput, 'metadata'>): Promise<void>;
  policy(key: string, spec: NetworkPolicyInput['spec']): Promise<void>;
  /** Attaches a server that answers with the name of the pod. The result removes it. */
  serve(key: string, port?: number, server?: PodServer): () => void;
  /** The text of a response, or the message of the error. */
  get(url: string, from?: string): Promise<string>;
}

export function source(key: string): Source {
  const [namespace = '', podName = ''] = key.split('/');
  return { namespace, podName };
}

/** The message of an error, and that of its cause if it has one. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

export async function networked(options: NetworkOptions = {}): Promise<Networked> {
  const failures: string[] = [];
  let network: ClusterNetwork | undefined;
  const run = controllers(
    [
      endpointSlices(),
      {
        name: 'network',
        needs: [Pod, Service, EndpointSlice, Node, Namespace, NetworkPolicy],
        start(context) {
          network = createNetwork(context, options);
        },
      },
    ],
    { onError: (error, about) => failures.push(`${about}: ${messageOf(error)}`) },
  );
  const cluster = testCluster({ dialect: 'kubernetes', controllers: run });
  const metadata = (key: string) => {
    const { namespace, podName: name } = source(key);
    return { name, namespace };
  };
  for (const [name, address, zone] of [
    ['n1', '192.168.0.1', 'a'],
    ['n2', '192.168.0.2', 'b'],
  ] as const) {
    await cluster.api(Node).create({ metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } } });
    await cluster.api(Node).status.edit(name, ({ status }) => {
      status.addresses = [{ type: 'InternalIP', address }];
    });
  }
  const self: Networked = {
    cluster,
    get network() {
      if (network === undefined) throw new Error('the controller has not started');
      return network;
    },
    failures,
    async namespace(name, labels = {}) {
      await cluster.api(Namespace).create({ metadata: { name, labels } });
    },
    async pod(key, ip, { labels = {}, node = 'n1', ready = true, ips = [ip], phase = 'Running', spec = {} } = {}) {
      const { name, namespace } = metadata(key);
      const api = cluster.api(Pod, namespace);
      const containers = [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }];
      await api.create({ metadata: { name, labels }, spec: { containers, nodeName: node, ...spec } });
      await api.status.edit(name, ({ status }) => {
        status.phase = phase;
        status.podIP = ip;
        status.podIPs = ips.map((each) => ({ ip: each }));
        status.hostIP = node === 'n1' ? '192.168.0.1' : '192.168.0.2';
        status.conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
      });
      await cluster.settle();
    },
    async service(key, spec = {}) {
      const { name, namespace } = metadata(key);
      const full = { selector: { app: name }, ports: [{ port: 80 }], ...spec };
      await cluster.api(Service, namespace).create({ metadata: { name }, spec: full });
      await cluster.settle();
    },
    async slice(key, slice) {
      const { name, namespace } = metadata(key);
      const labels = { 'kubernetes.io/service-name': name };
      const api = cluster.api(EndpointSlice, namespace);
      await api.create({ metadata: { name: `${name}-own`, labels }, ...slice });
      await cluster.settle();
    },
    async policy(key, spec) {
      await cluster.api(NetworkPolicy, metadata(key).namespace).create({ metadata: metadata(key), spec });
      await cluster.settle();
    },
    serve(key, port = 80, server = { fetch: () => new Response(key) }) {
      return self.network.listen(source(key), port, server);
    },
    async get(url, from) {
      try {
        const response = await self.network.fetch(new Request(url), from === undefined ? undefined : source(from));
        return await response.text();
      } catch (error) {
        return messageOf(error);
      }
    },
  };
  for (const name of ['team', 'other']) await self.namespace(name);
  await cluster.settle();
  return self;
}
