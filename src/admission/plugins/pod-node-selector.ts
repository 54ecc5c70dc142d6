/**
 * The nodes that the pods of a namespace may use, by an annotation of the namespace. A pod may narrow the choice further
 * but not contradict it.
 */
import { errors, type StatusError } from '../../meta/errors.js';
import { invalid, printFieldError } from '../../meta/field-error.js';
import { labelValueProblems, qualifiedNameProblems } from '../../meta/names.js';
import type { DraftObject } from '../../meta/object.js';
import { own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { sortedRecord } from '../../util/order.js';
import type { AdmissionPlugin, ClusterView } from '../types.js';
import { type AnyRequest, kindsOf, newPodSpec } from './match.js';

export interface PodNodeSelectorOptions {
  /** For namespaces without the annotation: `disk=ssd,zone=a`. */
  readonly clusterDefaultNodeSelector?: string;
  /** By namespace, all that its pods may choose from; absent: anything. */
  readonly namespaces?: Readonly<Record<string, string>>;
}

/**
 * The plugin with a default for the whole cluster, or with bounds for namespaces.
 *
 * @example
 * podNodeSelectorWith({ clusterDefaultNodeSelector: 'pool=shared' })
 */
export function podNodeSelectorWith(options: PodNodeSelectorOptions = {}): AdmissionPlugin {
  refuseUnknownOptions('podNodeSelectorWith', options, ['clusterDefaultNodeSelector', 'namespaces']);
  return Object.freeze({
    name: 'PodNodeSelector',
    looksAt: kindsOf(['', 'pods']),
    isBuiltIn: true,
    mutate(request, view) {
      const spec = newPodSpec(request);
      if (spec === undefined) return;
      const merged = { ...agreeing(request, view, options), ...spec.nodeSelector };
      if (Object.keys(merged).length > 0) spec.nodeSelector = sortedRecord(Object.entries(merged));
      checkBounds(request, options);
    },
    validate(request, view) {
      if (newPodSpec(request) === undefined) return;
      agreeing(request, view, options);
      checkBounds(request, options);
    },
  } satisfies AdmissionPlugin);
}

export const podNodeSelector: AdmissionPlugin = podNodeSelectorWith();

type Selector = Readonly<Record<string, string>>;

/** What the namespace says, if the pod does not contradict it. */
function agreeing(request: AnyRequest, view: ClusterView, options: PodNodeSelectorOptions): Selector {
  const ofNamespace = selectorOf(request.namespace, view, options);
  const ofPod = newPodSpec(request)?.nodeSelector ?? {};
  const isContradicted = Object.entries(ofNamespace).some(([key, value]) => (own(ofPod, key) ?? value) !== value);
  if (isContradicted) {
    throw refusal(request, 'pod node label selector conflicts with its namespace node label selector');
  }
  return ofNamespace;
}

function checkBounds(request: AnyRequest, { namespaces = {} }: PodNodeSelectorOptions): void {
  const bounds = parseSelector(own(namespaces, request.namespace) ?? '');
  if (Object.keys(bounds).length === 0) return;
  const ofPod = Object.entries(newPodSpec(request)?.nodeSelector ?? {});
  if (ofPod.every(([key, value]) => own(bounds, key) === value)) return;
  throw refusal(request, 'pod node label selector labels conflict with its namespace whitelist');
}

function selectorOf(name: string, view: ClusterView, { clusterDefaultNodeSelector }: PodNodeSelectorOptions): Selector {
  const namespace = view.namespace(name);
  if (namespace === undefined) throw errors.internal(`namespace ${name} does not exist`);
  const annotation = view.dialect.subkey('scheduler.alpha', 'node-selector');
  return parseSelector(own(namespace.metadata.annotations ?? {}, annotation) ?? clusterDefaultNodeSelector ?? '');
}

/** By the name that the object has so far, which may be none. */
function refusal({ served, object }: AnyRequest, why: string): StatusError {
  return errors.forbidden(served.groupResource, (object as DraftObject | undefined)?.metadata.name ?? '', why);
}

/** `a=b,c=d`. What is wrong with it escapes as a bare text: it is no fault of the pod. */
function parseSelector(text: string): Selector {
  if (text === '') return {};
  return Object.fromEntries(
    text.split(',').map((part) => {
      const pieces = part.split('=');
      const [key = '', value = ''] = pieces.map((piece) => piece.trim());
      if (pieces.length !== 2) throw errors.plain(`invalid selector: [${pieces.join(' ')}]`);
      const ofKey = qualifiedNameProblems(key);
      // The reference server prints a path that it was not given.
      if (ofKey.length > 0) throw errors.plain(printFieldError(invalid('<nil>', key, ofKey.join('; '))));
      const ofValue = labelValueProblems(value);
      if (ofValue.length > 0) throw errors.plain(printFieldError(invalid(`[${key}]`, value, ofValue.join('; '))));
      return [key, value];
    }),
  );
}
