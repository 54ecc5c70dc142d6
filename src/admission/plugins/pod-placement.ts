/**
 * Plugins about the placement of pods: PodNodeSelector (node selectors per namespace), PodTopologyLabels (copies topology
 * labels from the node) and LimitPodHardAntiAffinityTopology.
 */

import type { Binding } from '../../kinds/core/v1/pod/binding.js';
import type { PodSpec } from '../../kinds/generated/core-v1.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { errors, type StatusError } from '../../meta/errors.js';
import { invalid, printFieldError } from '../../meta/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import type { DraftObject } from '../../meta/object.js';
import { own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { sortedRecord } from '../../util/order.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type AnyRequest, createdPodSpec, podPlugin, podSpecOf } from './requests.js';

export interface PodNodeSelectorOptions {
  /** For namespaces without the annotation: `disk=ssd,zone=a`. */
  readonly clusterDefaultNodeSelector?: string;
  /** By namespace, the labels that its pods may select; absent: any. */
  readonly namespaces?: Readonly<Record<string, string>>;
}

/**
 * The PodNodeSelector plugin with a cluster default or a whitelist per namespace. A pod may narrow the node selector of its
 * namespace, but must not contradict it.
 *
 * @example
 * podNodeSelectorWith({ clusterDefaultNodeSelector: 'pool=shared' })
 */
export function podNodeSelectorWith(options: PodNodeSelectorOptions = {}): AdmissionPlugin {
  refuseUnknownOptions('podNodeSelectorWith', options, ['clusterDefaultNodeSelector', 'namespaces']);
  return podPlugin('PodNodeSelector', {
    mutate(request, view) {
      const spec = createdPodSpec(request);
      if (spec === undefined) return;
      const merged = { ...namespaceSelector(request, view, options), ...spec.nodeSelector };
      if (Object.keys(merged).length > 0) spec.nodeSelector = sortedRecord(Object.entries(merged));
      checkBounds(request, options);
    },
    validate(request, view) {
      if (createdPodSpec(request) === undefined) return;
      namespaceSelector(request, view, options);
      checkBounds(request, options);
    },
  });
}

export const podNodeSelector: AdmissionPlugin = /* @__PURE__ */ podNodeSelectorWith();

/** Allows required pod anti-affinity for the topology key `hostname` only. */
export const limitPodHardAntiAffinityTopology = /* @__PURE__ */ podPlugin('LimitPodHardAntiAffinityTopology', {
  validate: validateAntiAffinity,
});

/** Copies the zone and region labels of the node to pods that are created with, or bound to, a node. */
export const podTopologyLabels = /* @__PURE__ */ podPlugin('PodTopologyLabels', { mutate: addTopologyLabels });

type Selector = Readonly<Record<string, string>>;

/** The node selector of the namespace. Throws 403 if the pod contradicts it. */
function namespaceSelector(request: AnyRequest, view: ClusterView, options: PodNodeSelectorOptions): Selector {
  const ofNamespace = selectorOf(request.namespace, view, options);
  const ofPod = createdPodSpec(request)?.nodeSelector ?? {};
  const isContradicted = Object.entries(ofNamespace).some(([key, value]) => (own(ofPod, key) ?? value) !== value);
  if (isContradicted) {
    throw forbiddenByName(request, 'pod node label selector conflicts with its namespace node label selector');
  }
  return ofNamespace;
}

function checkBounds(request: AnyRequest, { namespaces = {} }: PodNodeSelectorOptions): void {
  const bounds = parseSelector(own(namespaces, request.namespace) ?? '');
  if (Object.keys(bounds).length === 0) return;
  const ofPod = Object.entries(createdPodSpec(request)?.nodeSelector ?? {});
  if (ofPod.every(([key, value]) => own(bounds, key) === value)) return;
  throw forbiddenByName(request, 'pod node label selector labels conflict with its namespace whitelist');
}

function selectorOf(name: string, view: ClusterView, { clusterDefaultNodeSelector }: PodNodeSelectorOptions): Selector {
  const namespace = view.namespace(name);
  if (namespace === undefined) throw errors.internal(`namespace ${name} does not exist`);
  const annotation = view.dialect.subkey('scheduler.alpha', 'node-selector');
  return parseSelector(own(namespace.metadata.annotations ?? {}, annotation) ?? clusterDefaultNodeSelector ?? '');
}

/** The name is that of the object so far, possibly empty. */
function forbiddenByName({ served, object }: AnyRequest, why: string): StatusError {
  return errors.forbidden(served.groupResource, (object as DraftObject | undefined)?.metadata.name ?? '', why);
}

/** Parses `a=b,c=d`. Errors are plain, because they are not caused by the pod. */
function parseSelector(text: string): Selector {
  if (text === '') return {};
  return Object.fromEntries(
    text.split(',').map((part) => {
      const pieces = part.split('=');
      const [key = '', value = ''] = pieces.map((piece) => piece.trim());
      if (pieces.length !== 2) throw errors.plain(`invalid selector: [${pieces.join(' ')}]`);
      const ofKey = qualifiedNameProblems(key);
      // The reference server passes a nil path here.
      // upstream: apimachinery/pkg/labels/labels.go ConvertSelectorToLabelsMap
      if (ofKey.length > 0) throw errors.plain(printFieldError(invalid('<nil>', key, ofKey.join('; '))));
      const ofValue = labelValueProblems(value);
      if (ofValue.length > 0) throw errors.plain(printFieldError(invalid(`[${key}]`, value, ofValue.join('; '))));
      return [key, value];
    }),
  );
}

/** The labels of a Binding are copied to its pod. */
function addTopologyLabels(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const { operation, object, subresource } = request;
  if (operation !== 'CREATE' || object === undefined || !view.features.enabled('PodTopologyLabelsAdmission')) return;
  const nodeName = subresource === '' ? (object['spec'] as PodSpec).nodeName : boundNode(object, subresource);
  if (!nodeName) return;
  const labels = topologyOf(nodeName, view);
  if (Object.keys(labels).length > 0)
    object.metadata.labels = sortedRecord(Object.entries({ ...object.metadata.labels, ...labels }));
}

function boundNode(object: DraftObject, subresource: string): string | undefined {
  if (subresource !== 'binding') return undefined;
  const target = object['target'] as Binding['target'];
  return target.kind === 'Node' ? target.name : undefined;
}

/** Empty if the node does not exist. */
function topologyOf(name: string, view: ClusterView): Record<string, string> {
  const node = view.get({ group: '', resource: 'nodes', namespace: '', name });
  return Object.fromEntries(
    topologyKeys(view.dialect).flatMap((key) => {
      const value = own(node?.metadata.labels ?? {}, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** In the topology group, unlike the failure-domain labels. */
function topologyKeys(dialect: Dialect): string[] {
  const group = dialect.group(serviceGroup('topology'));
  return [`${group}/zone`, `${group}/region`];
}

function validateAntiAffinity(request: AdmissionRequest, { dialect }: ClusterView): void {
  const allowed = dialect.key('hostname');
  const terms = podSpecOf(request)?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const other = terms.find(({ topologyKey }) => topologyKey !== allowed);
  if (other === undefined) return;
  throw forbiddenByName(
    request,
    `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${other.topologyKey} but only key ${allowed} is allowed`,
  );
}
