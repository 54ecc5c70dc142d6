/**
 * NetworkPolicies: whether a connection is allowed by the egress rules of its source and by the ingress rules of its target.
 * A pod that no policy selects for a direction is not restricted in it. Rules are evaluated after Services are translated
 * to pods. Pods in the host's network are part of their node: no policy selects them, and only address blocks match them.
 */
import { portNumber } from '../../controllers/endpoints/pod-services.js';
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { SharedInformer } from '../../controllers/runtime/shared-informer.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import type { Namespace } from '../../kinds/core/v1/namespace.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { NetworkPolicy } from '../../kinds/networking/v1/network-policy.js';
import { type Ip, parseCidrSloppy, parseIp } from '../../meta/ip.js';
import { selectsLabels } from '../../meta/labels.js';
import { getOrInsertComputed, once } from '../../util/once.js';

type PolicySpec = ObjectOf<typeof NetworkPolicy>['spec'];
type Peer = NonNullable<NonNullable<PolicySpec['ingress']>[number]['from']>[number];
type IpBlock = NonNullable<Peer['ipBlock']>;
type PolicyPort = NonNullable<NonNullable<PolicySpec['ingress']>[number]['ports']>[number];

/** One end of a connection. */
export interface End {
  /** Undefined outside of pods. */
  readonly pod?: StoredPod | undefined;
  /** Undefined for a name outside of the cluster. */
  readonly address?: string | undefined;
  /** The node with the address. */
  readonly nodeName?: string | undefined;
}

/** An end with its address in parsed form; undefined if it has none. */
interface PeerEnd extends End {
  readonly ip: Ip | undefined;
}

interface Rule {
  readonly ports: readonly PolicyPort[];
  readonly peers: readonly Peer[];
}

export class NetworkPolicies {
  readonly #policies: SharedInformer<typeof NetworkPolicy> | undefined;
  readonly #namespaces: SharedInformer<typeof Namespace>;

  constructor(context: ControllerContext, namespaces: SharedInformer<typeof Namespace>) {
    this.#policies = context.serves(NetworkPolicy) ? context.informer(NetworkPolicy) : undefined;
    this.#namespaces = namespaces;
  }

  /** Whether a pod may open a TCP connection to a port. */
  allows(source: End & { readonly pod: StoredPod }, target: End, port: number): boolean {
    const from = restricted(source);
    const to = restricted(target);
    if (from !== undefined && from.metadata.uid === to?.metadata.uid) return true;
    // A node always reaches its own pods, and they reach it.
    const isOnNode = source.nodeName !== undefined && source.nodeName === target.nodeName;
    if (isOnNode && (from === undefined || to === undefined)) return true;
    return (
      (from === undefined || this.#allows('Egress', from, target, { pod: to, port })) &&
      (to === undefined || this.#allows('Ingress', to, source, { pod: to, port }))
    );
  }

  #allows(type: 'Ingress' | 'Egress', pod: StoredPod, other: End, at: Port): boolean {
    const namespace = pod.metadata.namespace ?? '';
    const selecting = (this.#policies?.list(namespace) ?? []).filter(
      ({ spec }) => typesOf(spec).includes(type) && selectsLabels(spec.podSelector, pod.metadata.labels),
    );
    if (selecting.length === 0) return true;
    const peer: PeerEnd = { ...other, ip: other.address === undefined ? undefined : parseIp(other.address) };
    return selecting.some(({ spec }) =>
      rulesOf(spec, type).some(
        ({ ports, peers }) =>
          (ports.length === 0 || ports.some((port) => matchesPort(port, at))) &&
          (peers.length === 0 || peers.some((each) => this.#matches(each, peer, namespace))),
      ),
    );
  }

  #matches({ ipBlock, podSelector, namespaceSelector }: Peer, end: PeerEnd, policyNamespace: string): boolean {
    if (ipBlock !== undefined) return isInBlock(ipBlock, end);
    const pod = restricted(end);
    if (pod === undefined) return false;
    const { namespace = '', labels } = pod.metadata;
    const isInNamespace =
      namespaceSelector === undefined
        ? namespace === policyNamespace
        : selectsLabels(namespaceSelector, this.#namespaces.get(namespace)?.metadata.labels);
    return isInNamespace && (podSelector === undefined || selectsLabels(podSelector, labels));
  }
}

interface Port {
  /** The pod whose container ports have the names. */
  readonly pod: StoredPod | undefined;
  readonly port: number;
}

/** The pod to which policies apply. */
function restricted({ pod }: End): StoredPod | undefined {
  return pod?.spec.hostNetwork === true ? undefined : pod;
}

/** The server sets the types; a policy with egress rules only restricts ingress too. */
function typesOf({ policyTypes = [], egress = [] }: PolicySpec): readonly string[] {
  if (policyTypes.length > 0) return policyTypes;
  return egress.length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

function rulesOf({ ingress = [], egress = [] }: PolicySpec, type: 'Ingress' | 'Egress'): readonly Rule[] {
  return type === 'Ingress'
    ? ingress.map(({ ports = [], from = [] }) => ({ ports, peers: from }))
    : egress.map(({ ports = [], to = [] }) => ({ ports, peers: to }));
}

function matchesPort({ protocol, port: wanted, endPort }: PolicyPort, { pod, port }: Port): boolean {
  if (protocol !== 'TCP') return false;
  if (wanted === undefined) return true;
  if (typeof wanted === 'number') return port >= wanted && port <= (endPort ?? wanted);
  return pod !== undefined && portNumber(pod, { targetPort: wanted, protocol }) === port;
}

/** The address of a name outside of the cluster is not known: only a block of all addresses contains it. */
function isInBlock(block: IpBlock, { address, ip }: PeerEnd): boolean {
  const { range, isAll, excluded } = getOrInsertComputed(parsedBlocks, block, parseBlock);
  if (address === undefined) return isAll;
  if (range === undefined || ip === undefined) return false;
  return isWithin(range, ip) && !excluded().some((each) => isWithin(each, ip));
}

interface Range {
  readonly family: Ip['family'];
  readonly first: bigint;
  readonly last: bigint;
}

interface ParsedBlock {
  readonly range: Range | undefined;
  readonly isAll: boolean;
  readonly excluded: () => readonly Range[];
}

/** A policy may have tens of thousands of blocks, and each connection is compared with them. */
const parsedBlocks = new WeakMap<IpBlock, ParsedBlock>();

function parseBlock({ cidr, except = [] }: IpBlock): ParsedBlock {
  return {
    range: rangeOf(cidr),
    isAll: parseCidrSloppy(cidr)?.prefix === 0,
    excluded: once(() => except.flatMap((text) => rangeOf(text) ?? [])),
  };
}

function rangeOf(cidr: string): Range | undefined {
  const parsed = parseCidrSloppy(cidr);
  if (parsed === undefined) return undefined;
  const { family, value: first } = parsed.network;
  const size = 1n << BigInt((family === 'IPv4' ? 32 : 128) - parsed.prefix);
  return { family, first, last: first + size - 1n };
}

function isWithin({ family, first, last }: Range, ip: Ip): boolean {
  return ip.family === family && first <= ip.value && ip.value <= last;
}
