/**
 * Makes the addresses of Services and cluster DNS reachable for processes: each address and port has a socket, whose
 * connections are forwarded through the cluster network. This is what kube-proxy does in a real cluster.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { isPodAddress } from '../../controllers/stages/pod-selection.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import type { ByteConnection, SocketAddress, Sockets } from '../../protocol/connection.js';
import type { Undo } from '../../util/clock.js';
import { declaredPorts } from './routing.js';
import type { AddressTable, ClusterNetwork, Source } from './types.js';

/** Follows the Services until the context is closed. `publish` of the sockets must exist. */
export function publishServices(
  context: ControllerContext,
  { network, addresses }: { readonly network: ClusterNetwork; readonly addresses: AddressTable },
  sockets: Sockets,
): void {
  const services = context.informer(Service);
  const nodes = context.informer(Node);
  const pods = context.informer(Pod);
  const sourceOf = (address: string): Source | undefined => {
    const pod = addresses.podsAt(address).find(({ spec }) => spec.hostNetwork !== true);
    return pod && { namespace: pod.metadata.namespace ?? '', podName: pod.metadata.name };
  };
  const published = new Map<string, Undo>();
  const accept =
    ({ host, port }: SocketAddress) =>
    (connection: ByteConnection, remoteAddress: string) => {
      forward(connection, () => network.connect(host, port, sourceOf(remoteAddress))).catch((error: unknown) =>
        context.report(error, `the connection from ${remoteAddress} to ${host}:${port}`),
      );
    };
  const nodesAt = nodes.index('address', ({ status }) => (status.addresses ?? []).map(({ address }) => address));
  const podsOnPort = pods.index('port of a node', hostPorts);
  /** A socket at the address would take what belongs to a pod, even if its program is not listening yet. */
  const isOfPod = ({ host, port }: SocketAddress): boolean =>
    isPodAddress(host) || nodesAt(host).some(({ metadata }) => podsOnPort(`${metadata.name} ${port}`).length > 0);
  const update = (): void => {
    const wanted = new Map<string, SocketAddress>();
    for (const { spec } of services.list())
      for (const each of addressesOf(spec, nodes.list(), isOfPod)) wanted.set(`${each.host} ${each.port}`, each);
    for (const [key, undo] of published) {
      if (wanted.has(key)) continue;
      undo();
      published.delete(key);
    }
    for (const [key, address] of wanted) {
      if (!published.has(key)) published.set(key, sockets.publish?.(address, accept(address)) ?? (() => undefined));
    }
  };
  services.subscribe(update);
  nodes.subscribe(update);
  pods.subscribe(({ object }) => {
    if (object.spec.hostNetwork === true) update();
  });
  const resolve = (name: string, remoteAddress: string) => network.resolve(name, sourceOf(remoteAddress));
  const undoDns = sockets.publishDns?.(resolve);
  context.onClose(() => {
    undoDns?.();
    for (const undo of published.values()) undo();
  });
}

/** The ports that pods in the network of a node declare, by `node port`. */
function hostPorts(pod: StoredPod): readonly string[] {
  const { hostNetwork, nodeName = '' } = pod.spec;
  return hostNetwork === true && !isPodFinished(pod) ? declaredPorts(pod).map((port) => `${nodeName} ${port}`) : [];
}

/** Cluster IPs, external addresses and node ports, for TCP. */
function addressesOf(
  spec: {
    readonly type?: string | undefined;
    readonly clusterIPs?: readonly string[] | undefined;
    readonly externalIPs?: readonly string[] | undefined;
    readonly ports?: readonly { readonly port: number; readonly protocol?: string; readonly nodePort?: number }[];
  },
  nodes: readonly {
    readonly status: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
  }[],
  isOfPod: (address: SocketAddress) => boolean,
): readonly SocketAddress[] {
  const { clusterIPs = [], externalIPs = [], ports = [] } = spec;
  const hosts = clusterIPs.filter((address) => address !== 'None');
  const nodeHosts = nodes.flatMap(({ status }) =>
    (status.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
  );
  return ports
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .flatMap(({ port, nodePort }) => [
      ...hosts.map((host) => ({ host, port })),
      ...externalIPs.map((host) => ({ host, port })).filter((each) => !isOfPod(each)),
      ...(nodePort === undefined || nodePort === 0 ? [] : nodeHosts.map((host) => ({ host, port: nodePort }))),
    ]);
}

/** Connects and copies bytes in both directions. The client is disconnected if there is no connection. */
async function forward(client: ByteConnection, connect: () => Promise<ByteConnection>): Promise<void> {
  let server: ByteConnection;
  try {
    server = await connect();
  } catch (error) {
    await client.writable.abort(error);
    return;
  }
  // Either side may disconnect at any time, which ends the other one.
  await Promise.allSettled([client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)]);
}
