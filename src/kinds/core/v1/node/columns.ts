/**
 * The table of nodes.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/common-columns.js';
import type { Node } from './node.js';
import type { NodeSystemInfo } from './schema.js';

export const nodeColumns: readonly Column[] = [
  nameColumn,
  textColumn('Status', 'Whether it is ready and takes new pods.', status),
  textColumn('Roles', 'What it is used for, by its labels.', roles),
  ageColumn,
  textColumn('Version', 'The version of the agent that runs its pods.', (object) => infoOf(object).kubeletVersion),
  wide('Internal-IP', 'Its address inside the cluster.', (object) => addressOf(object, 'InternalIP')),
  wide('External-IP', 'Its address for the world outside.', (object) => addressOf(object, 'ExternalIP')),
  wide('OS-Image', 'The operating system that it runs.', (object) => infoOf(object).osImage || UNKNOWN),
  wide('Kernel-Version', 'The version of its kernel.', (object) => infoOf(object).kernelVersion || UNKNOWN),
  wide(
    'Container-Runtime',
    'What runs its containers, with the version.',
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
