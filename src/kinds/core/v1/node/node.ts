/**
 * The Node kind: a machine that runs pods.
 */

import { SERVICE_NAME } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, fieldError, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { cidrWarnings, isDualStack, parseCidrSloppy, validCidrProblems } from '../../../../meta/ip.js';
import type { ApiObject } from '../../../../meta/object.js';
import { wasSentEmpty } from '../../../../schema/empty-values.js';
import { copyQuantityTexts, originalQuantityText } from '../../../../schema/quantity-texts.js';
import { quote, stringSlice, verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { copyJson, own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { defineBuiltIn } from '../../../define-kind.js';
import {
  type NodeKind,
  type NodeObject,
  type NodeStatus,
  type NodeSystemInfo,
  nodeBase,
} from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/common-columns.js';
import { type ResourceList, roundResourceList, validateResourceQuantity } from '../../../shared/resources.js';
import { keepLive, statusSubresource } from '../../../shared/strategies.js';
import { validateNodeTaints } from '../../../shared/taints.js';
import { nodeConnectSubresources } from '../connect-subresources.js';

const nodeColumns: readonly Column<Node>[] = [
  nameColumn,
  textColumn('Status', 'Whether the node is ready and schedulable.', statusCell),
  textColumn('Roles', 'The roles of the node, from its labels.', roles),
  ageColumn,
  textColumn('Version', 'The version of the kubelet.', (object) => infoOf(object).kubeletVersion),
  wide('Internal-IP', 'The address inside the cluster.', (object) => addressOf(object, 'InternalIP')),
  wide('External-IP', 'The address outside the cluster.', (object) => addressOf(object, 'ExternalIP')),
  wide('OS-Image', 'The operating system of the node.', (object) => infoOf(object).osImage || UNKNOWN),
  wide('Kernel-Version', 'The kernel version of the node.', (object) => infoOf(object).kernelVersion || UNKNOWN),
  wide(
    'Container-Runtime',
    'The container runtime and its version.',
    (object) => infoOf(object).containerRuntimeVersion || UNKNOWN,
  ),
];

/** A role is the suffix of this label key (in either dialect), or the value of the older label below. */
const ROLE = /^node-role\.[a-z0-9]+\.io\/(.+)$/;

const OLD_ROLE = /^[a-z0-9]+\.io\/role$/;

export interface Node extends NodeObject {}

export const Node: NodeKind<Node> = defineBuiltIn({
  ...nodeBase,
  names: { shortNames: ['no'] },
  columns: nodeColumns,
  connectSubresources: nodeConnectSubresources,
  strategy: {
    // An empty `allocatable` gets its default when the stored object is read.
    write: { ownableFields: { except: ['status'] }, warnings, canonicalize: setAllocatable },
    decode: { defaults },
    create: { prepare: dropConfig, validate },
    update: {
      prepare: (draft, live) => {
        keepLive(draft, live, ['status']);
        dropConfig(draft);
      },
      validationOrder: ['create', 'metadata', 'update'],
      validate: validateUpdate,
    },
    read: {
      selectableFields: { 'spec.unschedulable': (object) => String(object.spec.unschedulable ?? false) },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: { status: statusSubresource({ prepare: dropConfig, validate: validateUpdate }) },
});

function defaults(draft: Node): void {
  const { spec, status } = draft;
  const { podCIDR = '', podCIDRs = [] } = spec;
  // Clients that set only podCIDR, or set it to another value than podCIDRs[0], may not know podCIDRs.
  if (podCIDR !== '' && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR];
  else if (podCIDRs[0] !== undefined) spec.podCIDR = podCIDRs[0];
  roundResourceList(status.capacity);
  roundResourceList(status.allocatable);
  if (!wasSentEmpty(status, 'allocatable')) setAllocatable(draft);
}

function setAllocatable({ status }: Pick<Node, 'status'>): void {
  if (status.allocatable === undefined && status.capacity !== undefined) {
    status.allocatable = copyJson(status.capacity);
    copyQuantityTexts(status.capacity, status.allocatable);
  }
}

/** Removes the fields of dynamic kubelet configuration, a removed feature. */
function dropConfig(draft: Node): void {
  const { spec, status } = draft;
  if (spec.configSource !== undefined) delete spec.configSource;
  if (status.config !== undefined) delete status.config;
}

const CIDRS_PATH = 'spec.podCIDRs';

function warnings(object: Node): readonly string[] {
  const { externalID, podCIDRs = [] } = object.spec;
  const unused = `spec.externalID: this field is deprecated, and is unused by ${SERVICE_NAME}`;
  return [
    ...(externalID ? [unused] : []),
    ...podCIDRs.flatMap((cidr, index) => cidrWarnings(keyPath(CIDRS_PATH, index), cidr)),
  ];
}

function validate(object: Node, context: HookContext): readonly FieldError[] {
  const { spec, status } = object;
  return [
    ...validateNodeTaints('metadata.taints', spec.taints ?? []),
    ...capacityProblems(status, context),
    ...swapProblems(status),
    ...cidrProblems(spec.podCIDRs ?? []),
  ];
}

function capacityProblems({ capacity, allocatable }: NodeStatus, context: HookContext): FieldError[] {
  return [
    ...amountProblems('status.capacity', capacity, context),
    ...amountProblems('status.allocatable', allocatable, context),
  ];
}

/** The path is the reference server's; there is no such field. */
function swapProblems({ nodeInfo }: NodeStatus): FieldError[] {
  const capacity = nodeInfo?.swap?.capacity;
  if (capacity === undefined || capacity > 0) return [];
  return [invalid('metadata.nodeSwapStatus.capacity', capacity, 'must be greater than zero')];
}

function amountProblems(path: string, list: ResourceList = {}, context: HookContext): FieldError[] {
  return Object.keys(list)
    .sort()
    .flatMap((name) =>
      validateResourceQuantity(childPath(path, name), own(list, name) ?? '0', {
        ...context,
        name,
        sent: originalQuantityText(list, name),
      }),
    );
}

function cidrProblems(cidrs: readonly string[]): FieldError[] {
  const problems = cidrs.flatMap((cidr, index) =>
    validCidrProblems(cidr).map((detail) => invalid(keyPath(CIDRS_PATH, index), cidr, detail)),
  );
  if (cidrs.length < 2) return problems;
  const families = cidrs.map((cidr) => parseCidrSloppy(cidr)?.network.family);
  const unreadable = families.indexOf(undefined);
  if (unreadable >= 0) problems.push(dualStackCheckError(unreadable, cidrs[unreadable] ?? ''));
  const parsedFamilies = families.filter((family) => family !== undefined);
  if (unreadable >= 0 || !isDualStack(parsedFamilies) || cidrs.length > 2) {
    problems.push(invalid(CIDRS_PATH, stringSlice(cidrs), 'may specify no more than one CIDR for each IP family'));
  }
  return problems;
}

function dualStackCheckError(index: number, cidr: string): FieldError {
  const why = `invalid CIDR[${index}]: <nil> (invalid CIDR address: ${cidr})`;
  const detail = `invalid PodCIDRs. failed to check with dual stack with error:${why}`;
  return fieldError('internal', CIDRS_PATH, { detail });
}

function validateUpdate(next: Node, live: Node, context: HookContext): readonly FieldError[] {
  const [{ spec, status }, { spec: before }] = [next, live];
  const problems = [
    ...capacityProblems(status, context),
    ...addressProblems(status),
    ...cidrUpdateProblems(spec, before),
  ];
  if (before.providerID && spec.providerID !== before.providerID) {
    const detail = 'node updates may not change providerID except from "" to valid';
    problems.push(forbidden('spec.providerID', detail));
  }
  append(problems, validateNodeTaints('metadata.taints', spec.taints ?? []));
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) {
    problems.push(forbidden('spec.externalID', 'may not be updated'));
  }
  return problems;
}

function addressProblems({ addresses = [] }: NodeStatus): FieldError[] {
  const seen = new Set<string>();
  return addresses.flatMap(({ type, address }, index) => {
    const value = `core.NodeAddress{Type:${quote(type)}, Address:${quote(address)}}`;
    const isDuplicate = seen.has(value);
    seen.add(value);
    return isDuplicate ? [duplicate(keyPath('status.addresses', index), verbatim(value))] : [];
  });
}

/** CIDRs cannot change once set. Each changed CIDR is reported; a list of another length is reported once. */
function cidrUpdateProblems({ podCIDRs = [] }: Node['spec'], { podCIDRs: before = [] }: Node['spec']): FieldError[] {
  if (before.length === 0) return [];
  const problem = forbidden(CIDRS_PATH, 'node updates may not change podCIDR except from "" to valid');
  if (before.length !== podCIDRs.length) return [problem];
  return before.filter((cidr, index) => cidr !== podCIDRs[index]).map(() => problem);
}

function wide(name: string, description: string, cell: Column<Node>['cell']): Column<Node> {
  return { ...textColumn(name, description, cell), priority: 1 };
}

function infoOf(object: Node): NodeSystemInfo {
  return object.status.nodeInfo;
}

function statusCell(object: Node): string {
  const { spec, status: present } = object;
  const ready = present.conditions?.findLast(({ type }) => type === 'Ready');
  const parts = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'];
  if (spec.unschedulable) parts.push('SchedulingDisabled');
  return parts.join(',');
}

function roles({ metadata }: ApiObject): string {
  const found = Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => {
    const role = ROLE.exec(key)?.[1] ?? (OLD_ROLE.test(key) ? value : '');
    return role === '' ? [] : [role];
  });
  return [...new Set(found)].sort().join(',') || NONE;
}

function addressOf(object: Node, type: string): string {
  return object.status.addresses?.find((address) => address.type === type)?.address ?? NONE;
}
