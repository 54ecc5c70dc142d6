/**
 * The Service kind: a stable name and address for a set of pods.
 */

import { keyPath } from '../../../../meta/field-error.js';
import { cidrWarnings, ipWarnings } from '../../../../meta/ip.js';
import { dns1035LabelProblems, maskTrailingDash } from '../../../../meta/names.js';
import { append } from '../../../../util/arrays.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { defineBuiltIn } from '../../../define-kind.js';
import { type ServiceKind, type ServiceObject, type ServiceStatus, serviceBase } from '../../../generated/core-v1.js';
import type { HookContext, NameValidator } from '../../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn, UNKNOWN, wideColumn } from '../../../shared/common-columns.js';
import { initialServices } from '../../../shared/control-plane/initial-objects.js';
import { serviceReconciler } from '../../../shared/control-plane/reconcilers.js';
import { statusSubresource } from '../../../shared/strategies.js';
import { serviceConnectSubresources } from '../connect-subresources.js';
import { allocateService, releaseService } from './allocate.js';
import { defaultService, dropInternalTrafficPolicy, dropTypeDependentFields } from './defaults.js';
import { isHeadless } from './needs.js';
import { serviceProblems, serviceStatusProblems, serviceUpdateProblems, topologyKeys } from './validate.js';

const serviceColumns: readonly Column<Service>[] = [
  nameColumn,
  textColumn('Type', 'The type of the service.', (object) => object.spec.type),
  textColumn('Cluster-IP', 'The address inside the cluster.', (object) => object.spec.clusterIPs?.[0] ?? NONE),
  textColumn('External-IP', 'The addresses outside the cluster.', externalCell),
  textColumn('Port(s)', 'The ports that it listens on.', portsCell),
  ageColumn,
  wideColumn('Selector', 'The label selector of its endpoints.', selectorCell),
];

export interface Service extends ServiceObject {}

/** The name becomes a DNS label that must not start with a digit. */
const validateServiceName: NameValidator = (name, prefix) =>
  dns1035LabelProblems(prefix ? maskTrailingDash(name) : name);

export const Service: ServiceKind<Service> = defineBuiltIn({
  ...serviceBase,
  names: { shortNames: ['svc'], categories: ['all'] },
  initial: initialServices,
  reconciler: serviceReconciler,
  strategy: {
    name: { validate: validateServiceName },
    update: {
      allowCreateOnUpdate: true,
      validationOrder: ['metadata', 'update', 'create'],
      prepare: (draft, live) => dropTypeDependentFields(draft, live.spec),
      validate: (next, live) => serviceUpdateProblems(next.spec, live.spec),
    },
    delete: { returnDeletedObject: true },
    write: {
      separateStatus: true,
      allocate: allocateService,
      release: releaseService,
      warnings,
      canonicalize: dropInternalTrafficPolicy,
    },
    decode: { defaults: defaultService },
    create: { validate: serviceProblems },
    read: {
      selectableFields: {
        'spec.clusterIP': (object) => object.spec.clusterIP ?? '',
        'spec.type': (object) => object.spec.type,
      },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: { status: statusSubresource({ validate: serviceStatusProblems, warnings: statusWarnings }) },
  columns: serviceColumns,
  connectSubresources: serviceConnectSubresources,
});

function warnings(object: Service, _live: Service | undefined, { dialect }: HookContext): readonly string[] {
  const spec = object.spec;
  const keys = topologyKeys(dialect);
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [] } = spec;
  const found: string[] = [];
  if (own(object.metadata.annotations ?? {}, keys.hints) !== undefined) {
    found.push(`annotation ${keys.hints} is deprecated, please use ${keys.mode} instead`);
  }
  if (!isHeadless(spec)) {
    clusterIPs.forEach((address, index) => {
      append(found, ipWarnings(keyPath('spec.clusterIPs', index), address));
    });
  }
  externalIPs.forEach((address, index) => {
    append(found, ipWarnings(keyPath('spec.externalIPs', index), address));
  });
  if (loadBalancerIP !== '') append(found, ipWarnings('spec.loadBalancerIP', loadBalancerIP));
  loadBalancerSourceRanges.forEach((range, index) => {
    append(found, cidrWarnings(keyPath('spec.loadBalancerSourceRanges', index), range));
  });
  const isName = spec.type === 'ExternalName';
  if (isName && externalIPs.length > 0) found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && spec.externalName) found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return found;
}

function statusWarnings(object: Service): readonly string[] {
  const points = (object['status'] as ServiceStatus).loadBalancer.ingress ?? [];
  return points.flatMap(({ ip = '' }, index) =>
    ip === '' ? [] : ipWarnings(keyPath('status.loadBalancer.ingress', index), ip),
  );
}

function externalCell(object: Service): string {
  const { type, externalIPs = [], externalName } = object.spec;
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || NONE;
    case 'LoadBalancer':
      return [...balancerAddresses(object), ...externalIPs].join(',') || '<pending>';
    case 'ExternalName':
      return externalName ?? '';
    default:
      return UNKNOWN;
  }
}

function balancerAddresses(object: Service): string[] {
  const points = (object['status'] as ServiceStatus).loadBalancer.ingress ?? [];
  const found = points.map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  return [...new Set(found)].sort();
}

function portsCell(object: Service): string {
  const ports = (object.spec.ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return ports.join(',') || NONE;
}

function selectorCell(object: Service): string {
  const pairs = Object.entries(object.spec.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',') || NONE;
}
