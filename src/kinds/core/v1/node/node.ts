/**
 * Node: a machine that runs pods. spec: Node
 */

import { SERVICE_NAME } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, duplicate, fieldError, forbidden, invalid, keyPath } from '../../../../meta/field-error.js';
import { cidrWarnings, isDualStack, parseCidrSloppy, validCidrProblems } from '../../../../meta/ip.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { copyQuantityTexts, originalQuantityText } from '../../../../schema/quantity-texts.js';
import type { Input, Output } from '../../../../schema/type.js';
import { quote, stringSlice, verbatim } from '../../../../text/go/go-text.js';
import { copyJson, own } from '../../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import type { Kind, WriteContext } from '../../../kind.js';
import { type ResourceList, validateResourceQuantity } from '../../../shared/resources.js';
import { roundResourceList } from '../../../shared/round-resource-list.js';
import { keepLive, statusSubresource } from '../../../shared/strategies.js';
import { validateNodeTaints } from '../../../shared/taints.js';
import { nodeConnections } from '../connect-subresources.js';
import { nodeColumns } from './columns.js';
import { type NodeStatus, nodeShape } from './schema.js';

export interface Node extends ObjectBase, Output<typeof nodeShape> {}
export interface NodeInput extends InputBase, Input<typeof nodeShape> {}

export const Node: Kind<Node, NodeInput, 'Cluster', 'status'> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Node',
  scope: 'Cluster',
  names: { shortNames: ['no'] },
  body: nodeShape,
  columns: nodeColumns,
  connectSubresources: nodeConnections,
  strategy: {
    write: { ownableFields: { except: ['status'] }, warnings },
    decode: { defaults },
    create: { prepare: dropConfig, validate },
    update: {
      prepare: (draft, live) => {
        keepLive(draft, live, ['status']);
        dropConfig(draft);
      },
      steps: ['whole', 'metadata', 'change'],
      validate: validateUpdate,
    },
    read: {
      selectableFields: { 'spec.unschedulable': (object) => String(nodeOf(object).spec.unschedulable ?? false) },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: { status: statusSubresource({ prepare: dropConfig, validate: validateUpdate }) },
});

function nodeOf(object: ApiObject | DraftObject): Node {
  return object as unknown as Node;
}

function defaults(draft: DraftObject): void {
  const { spec, status } = nodeOf(draft);
  const { podCIDR = '', podCIDRs = [] } = spec;
  // The list came later: who writes the single field alone, or against it, does not know the list.
  if (podCIDR !== '' && podCIDR !== podCIDRs[0]) spec.podCIDRs = [podCIDR];
  else if (podCIDRs[0] !== undefined) spec.podCIDR = podCIDRs[0];
  capacityDefaults(status);
}

function capacityDefaults(status: NodeStatus): void {
  roundResourceList(status.capacity);
  roundResourceList(status.allocatable);
  if (status.allocatable === undefined && status.capacity !== undefined) {
    status.allocatable = copyJson(status.capacity);
    copyQuantityTexts(status.capacity, status.allocatable);
  }
}

/** Configuration of nodes through the API is gone; its fields are never kept. */
function dropConfig(draft: DraftObject): void {
  const { spec, status } = nodeOf(draft);
  if (spec.configSource !== undefined) delete spec.configSource;
  if (status.config !== undefined) delete status.config;
}

const CIDRS_PATH = 'spec.podCIDRs';

function warnings(object: ApiObject): readonly string[] {
  const { externalID, podCIDRs = [] } = nodeOf(object).spec;
  const unused = `spec.externalID: this field is deprecated, and is unused by ${SERVICE_NAME}`;
  return [
    ...(externalID ? [unused] : []),
    ...podCIDRs.flatMap((cidr, index) => cidrWarnings(keyPath(CIDRS_PATH, index), cidr)),
  ];
}

function validate(object: ApiObject, context: WriteContext): readonly FieldError[] {
  const { spec, status } = nodeOf(object);
  return [
    ...validateNodeTaints('metadata.taints', spec.taints ?? []),
    ...capacityProblems(status, context),
    ...swapProblems(status),
    ...cidrProblems(spec.podCIDRs ?? []),
  ];
}

function capacityProblems({ capacity, allocatable }: NodeStatus, context: WriteContext): FieldError[] {
  return [
    ...amountProblems('status.capacity', capacity, context),
    ...amountProblems('status.allocatable', allocatable, context),
  ];
}

/** The reference server reports it at a path of its own making. */
function swapProblems({ nodeInfo }: NodeStatus): FieldError[] {
  const capacity = nodeInfo?.swap?.capacity;
  if (capacity === undefined || capacity > 0) return [];
  return [invalid('metadata.nodeSwapStatus.capacity', capacity, 'must be greater than zero')];
}

function amountProblems(path: string, list: ResourceList = {}, context: WriteContext): FieldError[] {
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
  if (unreadable >= 0) problems.push(familiesUnknown(unreadable, cidrs[unreadable] ?? ''));
  const known = families.filter((family) => family !== undefined);
  if (unreadable >= 0 || !isDualStack(known) || cidrs.length > 2) {
    problems.push(invalid(CIDRS_PATH, stringSlice(cidrs), 'may specify no more than one CIDR for each IP family'));
  }
  return problems;
}

function familiesUnknown(index: number, cidr: string): FieldError {
  const why = `invalid CIDR[${index}]: <nil> (invalid CIDR address: ${cidr})`;
  const detail = `invalid PodCIDRs. failed to check with dual stack with error:${why}`;
  return fieldError('internal', CIDRS_PATH, { detail });
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): readonly FieldError[] {
  const [{ spec, status }, { spec: before }] = [nodeOf(next), nodeOf(live)];
  const problems = [...capacityProblems(status, context), ...addressProblems(status), ...cidrChanges(spec, before)];
  if (before.providerID && spec.providerID !== before.providerID) {
    const detail = 'node updates may not change providerID except from "" to valid';
    problems.push(forbidden('spec.providerID', detail));
  }
  problems.push(...validateNodeTaints('metadata.taints', spec.taints ?? []));
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) {
    problems.push(forbidden('spec.externalID', 'may not be updated'));
  }
  return problems;
}

function addressProblems({ addresses = [] }: NodeStatus): FieldError[] {
  const seen = new Set<string>();
  return addresses.flatMap(({ type, address }, index) => {
    const dump = `core.NodeAddress{Type:${quote(type)}, Address:${quote(address)}}`;
    const isKnown = seen.has(dump);
    seen.add(dump);
    return isKnown ? [duplicate(keyPath('status.addresses', index), verbatim(dump))] : [];
  });
}

/** Once given, the ranges stay; every one that differs is reported, and a list of another length once. */
function cidrChanges({ podCIDRs = [] }: Node['spec'], { podCIDRs: before = [] }: Node['spec']): FieldError[] {
  if (before.length === 0) return [];
  const problem = forbidden(CIDRS_PATH, 'node updates may not change podCIDR except from "" to valid');
  if (before.length !== podCIDRs.length) return [problem];
  return before.filter((cidr, index) => cidr !== podCIDRs[index]).map(() => problem);
}
