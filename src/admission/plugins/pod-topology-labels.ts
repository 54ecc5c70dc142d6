/**
 * A pod that is given to a node learns where the node is: zone and region become labels of the pod. Behind a gate.
 */
import type { Binding } from '../../kinds/core/v1/pod/binding.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { own } from '../../util/json.js';
import { sortedRecord } from '../../util/order.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { kindsOf } from './match.js';

export const podTopologyLabels: AdmissionPlugin = Object.freeze({
  name: 'PodTopologyLabels',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  mutate,
});

/** A binding hands its labels on to its pod. */
function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const { operation, object, subresource } = request;
  if (operation !== 'CREATE' || object === undefined || !view.features.enabled('PodTopologyLabelsAdmission')) return;
  const nodeName = subresource === '' ? (object['spec'] as PodSpec).nodeName : boundTo(object, subresource);
  if (!nodeName) return;
  const labels = topologyOf(nodeName, view);
  if (Object.keys(labels).length > 0)
    object.metadata.labels = sortedRecord(Object.entries({ ...object.metadata.labels, ...labels }));
}

function boundTo(object: DraftObject, subresource: string): string | undefined {
  if (subresource !== 'binding') return undefined;
  const { target } = object as unknown as Binding;
  return target.kind === 'Node' ? target.name : undefined;
}

/** Empty for a node that is not there. */
function topologyOf(name: string, view: ClusterView): Record<string, string> {
  const node = view.get({ group: '', resource: 'nodes', namespace: '', name });
  return Object.fromEntries(
    topologyKeys(view.dialect).flatMap((key) => {
      const value = own(node?.metadata.labels ?? {}, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Under the name of a group, unlike the labels that nodes come with. */
function topologyKeys(dialect: Dialect): string[] {
  const group = dialect.group(serviceGroup('topology'));
  return [`${group}/zone`, `${group}/region`];
}
