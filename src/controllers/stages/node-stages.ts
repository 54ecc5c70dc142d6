/**
 * Simulates the node part of kubelets: new nodes become ready, with labels, an address, capacity for pods and information
 * about the system.
 */
import { Node } from '../../kinds/core/v1/node/node.js';
import type { NodeConditionInput, NodeInput, NodeStatusInput } from '../../kinds/generated/core-v1.js';
import { REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import type { Taint } from '../../kinds/shared/taints.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { hexDigitsFromText, uidFromText } from '../../util/ids.js';
import { LOST_REASONS } from '../node-lifecycle/node-health.js';
import { isNodeReady, type StoredNode } from '../workloads/daemon-set/placement.js';
import { isKubeletStopped, leaseStages } from './node-leases.js';
import { KUBELET } from './pod-selection.js';
import { type Delay, type Stage, stage } from './stage.js';

export interface NodeStagesOptions {
  /** The delay until a node becomes ready; 0 unless given. */
  readonly afterMs?: Delay | undefined;
}

const CAPACITY = {
  cpu: '32',
  'ephemeral-storage': '1Ti',
  'hugepages-1Gi': '0',
  'hugepages-2Mi': '0',
  memory: '256Gi',
  pods: '110',
};
const OPERATING_SYSTEM = 'linux';
const ARCHITECTURE = 'amd64';

/**
 * Nodes without a Ready condition get one; nodes with a Ready condition of any status keep it, unless the node lifecycle
 * controller wrote it because it did not hear of the node. The not-ready taint, which the server adds to every new node, is
 * removed from ready nodes. The Lease of each node is renewed. A node with the annotation `orchplane/kubelet: stopped` is
 * left alone, so that it is lost after the grace period.
 *
 * @example
 * stages([...readyPods(), ...nodeStages({ afterMs: 30_000 })]);
 */
export function nodeStages({ afterMs = 0 }: NodeStagesOptions = {}): readonly Stage[] {
  return [
    stage({
      name: 'ready',
      kind: Node,
      optional: true,
      fieldManager: KUBELET,
      when: (node) => isSilent(node) && !isKubeletStopped(node) && node.metadata.deletionTimestamp === undefined,
      after: afterMs,
      set: (node, { now, dialect }) => ({
        metadata: { labels: { ...labelsOf(node.metadata.name, dialect), ...node.metadata.labels } },
        status: {
          ...(node.status.nodeInfo.kubeletVersion === '' ? systemOf(node.metadata.name, dialect) : {}),
          ...(node.status.capacity === undefined ? { capacity: CAPACITY } : {}),
          ...(node.status.allocatable === undefined ? { allocatable: node.status.capacity ?? CAPACITY } : {}),
          conditions: [...othersOf(node), ...conditions(now())],
          ...(node.status.addresses === undefined ? { addresses: addressesOf(node.metadata.name) } : {}),
        },
      }),
    }),
    stage({
      name: 'untainted',
      kind: Node,
      optional: true,
      when: (node, { dialect }) => isNodeReady(node) && (node.spec.taints ?? []).some(isNotReadyTaint(dialect)),
      set: ({ spec }, { dialect }) => ({
        spec: { taints: (spec.taints ?? []).filter((taint) => !isNotReadyTaint(dialect)(taint)) },
      }),
    }),
    ...leaseStages,
  ];
}

/** Whether the node has no Ready condition, or the one that the node lifecycle controller gives to nodes it does not hear of. */
function isSilent({ status }: StoredNode): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || (ready.status === 'Unknown' && LOST_REASONS.includes(ready.reason ?? ''));
}

function isNotReadyTaint(dialect: Dialect): (taint: Taint) => boolean {
  return ({ key, effect }) => key === dialect.subkey('node', 'not-ready') && effect === 'NoSchedule';
}

/** The input for a Node that is ready from the start. */
export function readyNode(name: string, dialect: Dialect, now: string): NodeInput {
  return {
    metadata: {
      name,
      labels: labelsOf(name, dialect),
      annotations: { [dialect.subkey('volumes', 'controller-managed-attach-detach')]: 'true' },
    },
    status: {
      capacity: CAPACITY,
      allocatable: CAPACITY,
      conditions: conditions(now),
      addresses: addressesOf(name),
      ...systemOf(name, dialect),
    },
  };
}

/** The labels that kubelet gives to its node. */
function labelsOf(name: string, dialect: Dialect): Record<string, string> {
  return {
    [dialect.subkey('beta', 'arch')]: ARCHITECTURE,
    [dialect.subkey('beta', 'os')]: OPERATING_SYSTEM,
    [dialect.key('arch')]: ARCHITECTURE,
    [dialect.key('hostname')]: name,
    [dialect.key('os')]: OPERATING_SYSTEM,
  };
}

/** What kubelet reports about the machine. The identifiers depend only on the name. */
function systemOf(name: string, dialect: Dialect): Pick<NodeStatusInput, 'daemonEndpoints' | 'nodeInfo' | 'images'> {
  const pauseImage = `${dialect.group(serviceGroup('registry'))}/pause`;
  const digest = hexDigitsFromText(pauseImage) + hexDigitsFromText(`${pauseImage} `);
  return {
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: hexDigitsFromText(`machine ${name}`),
      systemUUID: uidFromText(`system ${name}`),
      bootID: uidFromText(`boot ${name}`),
      kernelVersion: '6.12.0',
      osImage: 'Linux (simulated)',
      containerRuntimeVersion: 'containerd://2.1.0',
      kubeletVersion: `v${REFERENCE_RELEASE}.0`,
      // Since 1.33 kubelet no longer reports a version of kube-proxy.
      kubeProxyVersion: '',
      operatingSystem: OPERATING_SYSTEM,
      architecture: ARCHITECTURE,
    },
    images: [{ names: [`${pauseImage}@sha256:${digest}`, `${pauseImage}:3.10`], sizeBytes: 320_368 }],
  };
}

function conditions(now: string): NodeConditionInput[] {
  const pressures = [
    ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
    ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
    ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ] as const;
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  return [
    ...pressures.map(([type, reason, message]) => ({ type, status: 'False' as const, ...times, reason, message })),
    { type: 'Ready', status: 'True', ...times, reason: 'KubeletReady', message: 'kubelet is posting ready status' },
  ];
}

function othersOf({ status }: StoredNode) {
  const own = new Set<string>(conditions('').map(({ type }) => type));
  return (status.conditions ?? []).filter(({ type }) => !own.has(String(type)));
}

/** A deterministic address derived from the name, in 172.16.0.0/12 (a million addresses). */
function addressesOf(name: string) {
  let hash = 0;
  for (const letter of name) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  const address = `172.${16 + ((hash >>> 16) & 15)}.${(hash >>> 8) & 255}.${hash & 255}`;
  return [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ];
}
