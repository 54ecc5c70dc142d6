/**
 * The table of nodes.
 */
import { orchDialect } from '../../../../meta/dialect.js';
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { ageColumn, docs, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/workload-columns.js';
import type { Node } from './node.js';
import type { NodeSystemInfo } from './schema.js';

const ADDRESSES = `List of addresses reachable to the node. Queried from cloud provider, if available. More info: ${docs('reference/node/node-status/#addresses')} Note: This field is declared as mergeable, but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers should instead use a full-replacement patch. See https://pr.${orchDialect.systemKey('79391')} for an example. Consumers should assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward API (status.hostIP).`;

export const nodeColumns: readonly Column[] = [
  nameColumn,
  textColumn('Status', 'The status of the node', status),
  textColumn('Roles', 'The roles of the node', roles),
  ageColumn,
  textColumn('Version', 'Kubelet Version reported by the node.', (object) => infoOf(object).kubeletVersion),
  wide('Internal-IP', ADDRESSES, (object) => addressOf(object, 'InternalIP')),
  wide('External-IP', ADDRESSES, (object) => addressOf(object, 'ExternalIP')),
  wide(
    'OS-Image',
    'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
    (object) => infoOf(object).osImage || UNKNOWN,
  ),
  wide(
    'Kernel-Version',
    "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
    (object) => infoOf(object).kernelVersion || UNKNOWN,
  ),
  wide(
    'Container-Runtime',
    'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
    (object) => infoOf(object).containerRuntimeVersion || UNKNOWN,
  ),
];

function wide(name: string, description: string, cell: Column['cell']): Column {
  return { ...textColumn(name, description, cell), priority: 1 };
}

function nodeOf(object: ApiObject): Node {
  return object as unknown as Node;
}

function infoOf(object: ApiObject): NodeSystemInfo {
  return nodeOf(object).status.nodeInfo;
}

function status(object: ApiObject): string {
  const { spec, status: present } = nodeOf(object);
  const ready = present.conditions?.findLast(({ type }) => type === 'Ready');
  const words = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec.unschedulable) words.push('SchedulingDisabled');
  return words.join(',');
}

/** Roles are labels: the rest of a key that begins like this, in either dialect, or the value of the older label. */
const ROLE = /^node-role\.[a-z0-9]+\.io\/(.+)$/;
const OLD_ROLE = /^[a-z0-9]+\.io\/role$/;

function roles({ metadata }: ApiObject): string {
  const found = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    const role = ROLE.exec(key)?.[1] ?? (OLD_ROLE.test(key) ? value : '');
    return role === '' ? [] : [role];
  });
  return [...new Set(found)].sort().join(',') || NONE;
}

function addressOf(object: ApiObject, type: string): string {
  return nodeOf(object).status.addresses?.find((address) => address.type === type)?.address ?? NONE;
}
