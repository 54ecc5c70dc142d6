/**
 * Service: a name and an address for a changing set of pods. spec: Service
 */

import { keyPath } from '../../../../meta/field-error.js';
import { cidrWarnings, ipWarnings } from '../../../../meta/ip.js';
import { dns1035LabelProblems, maskTrailingDash } from '../../../../meta/names.js';
import type { ApiObject } from '../../../../meta/object.js';
import { always } from '../../../../schema/hints.js';
import type { Input, Output } from '../../../../schema/type.js';
import { own } from '../../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import type { Kind, NameRule, WriteContext } from '../../../kind.js';
import { statusSubresource } from '../../../shared/strategies.js';
import { serviceConnections } from '../connect-subresources.js';
import { allocateService, releaseService } from './allocate.js';
import { serviceColumns } from './columns.js';
import { defaultService, dropInternalTrafficPolicy, dropTypeDependentFields } from './defaults.js';
import { isHeadless } from './needs.js';
import { type ServiceStatus, serviceSpec, serviceStatus } from './schema.js';
import { serviceProblems, serviceStatusProblems, serviceUpdateProblems, topologyKeys } from './validate.js';

const shape = () => ({ spec: always(serviceSpec()), status: always(serviceStatus()) });
export interface Service extends ObjectBase, Output<typeof shape> {}
export interface ServiceInput extends InputBase, Input<typeof shape> {}

/** It becomes a host name, so it may not start with a digit. */
const hostName: NameRule = (name, prefix) => dns1035LabelProblems(prefix ? maskTrailingDash(name) : name);

const specOf = (object: ApiObject) => (object as unknown as Service).spec;

export const Service: Kind<Service, ServiceInput, 'Namespaced', 'status'> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Service',
  scope: 'Namespaced',
  names: { shortNames: ['svc'], categories: ['all'] },
  body: shape,
  strategy: {
    name: { validate: hostName },
    update: {
      createsAbsent: true,
      steps: ['metadata', 'change', 'whole'],
      prepare: (draft, live) => dropTypeDependentFields(draft, specOf(live)),
      validate: (next, live) => serviceUpdateProblems(specOf(next), specOf(live)),
    },
    delete: { returnsObject: true },
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
        'spec.clusterIP': (object) => specOf(object).clusterIP ?? '',
        'spec.type': (object) => specOf(object).type,
      },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: { status: statusSubresource({ validate: serviceStatusProblems, warnings: statusWarnings }) },
  columns: serviceColumns,
  connectSubresources: serviceConnections,
});

function warnings(object: ApiObject, _live: ApiObject | undefined, { dialect }: WriteContext): readonly string[] {
  const spec = specOf(object);
  const keys = topologyKeys(dialect);
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [] } = spec;
  const found: string[] = [];
  if (own(object.metadata.annotations ?? {}, keys.hints) !== undefined) {
    found.push(`annotation ${keys.hints} is deprecated, please use ${keys.mode} instead`);
  }
  if (!isHeadless(spec)) {
    clusterIPs.forEach((address, index) => {
      found.push(...ipWarnings(keyPath('spec.clusterIPs', index), address));
    });
  }
  externalIPs.forEach((address, index) => {
    found.push(...ipWarnings(keyPath('spec.externalIPs', index), address));
  });
  if (loadBalancerIP !== '') found.push(...ipWarnings('spec.loadBalancerIP', loadBalancerIP));
  loadBalancerSourceRanges.forEach((range, index) => {
    found.push(...cidrWarnings(keyPath('spec.loadBalancerSourceRanges', index), range));
  });
  const isName = spec.type === 'ExternalName';
  if (isName && externalIPs.length > 0) found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && spec.externalName) found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return found;
}

function statusWarnings(object: ApiObject): readonly string[] {
  const points = (object['status'] as ServiceStatus).loadBalancer.ingress ?? [];
  return points.flatMap(({ ip = '' }, index) =>
    ip === '' ? [] : ipWarnings(keyPath('status.loadBalancer.ingress', index), ip),
  );
}
