/**
 * The plugins about taints and tolerations: DefaultTolerationSeconds, ExtendedResourceToleration, TaintNodesByCondition
 * and PodTolerationRestriction.
 */

import { qosClassOf } from '../../kinds/core/v1/pod/qos.js';
import type { PodSpec } from '../../kinds/generated/core-v1.js';
import { isExtendedResource } from '../../kinds/shared/resources.js';
import { mergeTolerations, TolerationCoverage } from '../../kinds/shared/tolerations.js';
import { errors, type StatusError } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { translateError } from '../../util/catch-error.js';
import { copyJson, isRecord, own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type AnyRequest, builtIn, isRequestFor, kindsOf, podPlugin, podSpecOf } from './requests.js';

/** Lets pods stay on nodes that are not ready or unreachable for five minutes, unless they specify otherwise. */
export const defaultTolerationSeconds = /* @__PURE__ */ podPlugin('DefaultTolerationSeconds', {
  mutate: addDefaultTolerations,
});

/** Adds tolerations for the taints of nodes with extended resources that the pod requests. */
export const extendedResourceToleration = /* @__PURE__ */ podPlugin('ExtendedResourceToleration', {
  mutate: tolerateExtendedResources,
});

/** Taints new nodes as not ready. */
export const taintNodesByCondition = /* @__PURE__ */ builtIn('TaintNodesByCondition', {
  handlesKind: kindsOf(['', 'nodes']),
  mutate: taintNewNode,
});

type Toleration = NonNullable<PodSpec['tolerations']>[number];

export interface PodTolerationRestrictionOptions {
  /** Default tolerations in namespaces without the annotation. */
  readonly default?: readonly Toleration[];
  /** Allowed tolerations in namespaces without the annotation; empty: all. */
  readonly whitelist?: readonly Toleration[];
}

/**
 * The PodTolerationRestriction plugin: default and allowed tolerations per namespace, by annotations, and for the whole
 * cluster.
 *
 * @example
 * podTolerationRestrictionWith({ whitelist: [{ key: 'shared', operator: 'Exists' }] })
 */
export function podTolerationRestrictionWith(options: PodTolerationRestrictionOptions = {}): AdmissionPlugin {
  refuseUnknownOptions('podTolerationRestrictionWith', options, ['default', 'whitelist']);
  return podPlugin('PodTolerationRestriction', {
    mutate(request, view) {
      const spec = podSpecOf(request);
      if (spec === undefined) return;
      const added = [...(request.operation === 'CREATE' ? defaultsFor(request, view, options) : [])];
      if (qosClassOf(spec, view.features) !== 'BestEffort') {
        const key = view.dialect.subkey('node', 'memory-pressure');
        added.push({ key, operator: 'Exists', effect: 'NoSchedule' });
      }
      if (added.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], copyJson(added));
      check(request, view, options);
    },
    validate: (request, view) => check(request, view, options),
  });
}

export const podTolerationRestriction: AdmissionPlugin = /* @__PURE__ */ podTolerationRestrictionWith();

function defaultsFor(request: AnyRequest, view: ClusterView, options: PodTolerationRestrictionOptions) {
  return listOf(request, view, 'defaultTolerations') ?? options.default ?? [];
}

function check(request: AnyRequest, view: ClusterView, options: PodTolerationRestrictionOptions): void {
  const tolerations = podSpecOf(request)?.tolerations ?? [];
  if (tolerations.length === 0) return;
  const ofNamespace = listOf(request, view, 'tolerationsWhitelist');
  const allowed = ofNamespace ?? options.whitelist ?? [];
  if (allowed.length === 0) return;
  const coverage = new TolerationCoverage();
  for (const toleration of allowed) coverage.add(toleration);
  if (tolerations.every((toleration) => coverage.has(toleration) || coverage.covers(toleration))) return;
  const whose = ofNamespace === undefined ? 'cluster' : 'namespace';
  const text = 'pod tolerations (possibly merged with namespace default tolerations) conflict with its';
  throw errors.plain(`${text} ${whose} whitelist`);
}

/** Undefined if the namespace has no annotation; an empty list is a value. */
function listOf(request: AnyRequest, view: ClusterView, name: string): readonly Toleration[] | undefined {
  const namespace = view.namespace(request.namespace);
  if (namespace === undefined) throw errors.notFound({ group: '', resource: 'namespaces' }, request.namespace);
  const text = own(namespace.metadata.annotations ?? {}, view.dialect.subkey('scheduler.alpha', name));
  if (text === undefined) return undefined;
  return text === '' ? [] : parseList(text);
}

function parseList(text: string): readonly Toleration[] {
  const { value } = translateError(
    JsonSyntaxError,
    () => parseJson(text),
    ({ message }) => errors.plain(message),
  );
  if (value === null) return [];
  if (!Array.isArray(value)) throw unmarshalError(value, 'Go value of type []v1.Toleration');
  return value.map(asToleration);
}

/** Unknown fields are ignored. */
function asToleration(value: unknown): Toleration {
  if (value === null) return {};
  if (!isRecord(value)) throw unmarshalError(value, 'Go value of type v1.Toleration');
  const { tolerationSeconds } = value;
  for (const field of ['key', 'operator', 'value', 'effect']) {
    const text = value[field] ?? '';
    if (typeof text !== 'string') throw unmarshalError(text, `Go struct field Toleration.${field} of type string`);
  }
  if (typeof (tolerationSeconds ?? 0) !== 'number') {
    throw unmarshalError(tolerationSeconds, 'Go struct field Toleration.tolerationSeconds of type int64');
  }
  const known = ['key', 'operator', 'value', 'effect', 'tolerationSeconds'];
  return Object.fromEntries(known.flatMap((field) => ((value[field] ?? '') === '' ? [] : [[field, value[field]]])));
}

function unmarshalError(value: unknown, into: string): StatusError {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return errors.plain(`json: cannot unmarshal ${type} into ${into}`);
}

interface Taint {
  readonly key: string;
  readonly effect: string;
}

function taintNewNode(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  if (request.operation !== 'CREATE' || request.object === undefined || !isRequestFor(request, '', 'nodes')) return;
  const spec = request.object['spec'] as { taints?: Taint[] };
  const taint: Taint = { key: dialect.subkey('node', 'not-ready'), effect: 'NoSchedule' };
  const present = spec.taints ?? [];
  if (present.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
  spec.taints = [...present, taint];
}

function tolerateExtendedResources(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  const spec = podSpecOf(request);
  if (spec === undefined) return;
  const names = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources.requests ?? {}).filter((name) => isExtendedResource(name, { dialect })),
  );
  if (names.length > 0) tolerate(spec, [...new Set(names)].sort());
}

/** Changes the spec in place; replaces tolerations that differ only in their seconds. */
function tolerate(spec: PodSpec, keys: readonly string[]): void {
  const missing = new Map(
    keys.map((key): [string, Toleration] => [key, { key, operator: 'Exists', effect: 'NoSchedule' }]),
  );
  const wanted = new Map(missing);
  const tolerations = (spec.tolerations ?? []).map((toleration) => {
    const { key = '', operator, effect, value = '' } = toleration;
    const replacement = operator === 'Exists' && effect === 'NoSchedule' && value === '' ? wanted.get(key) : undefined;
    if (replacement !== undefined) missing.delete(key);
    return replacement ?? toleration;
  });
  spec.tolerations = [...tolerations, ...missing.values()];
}

const DEFAULT_SECONDS = 300;

function addDefaultTolerations(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  const spec = podSpecOf(request);
  if (spec === undefined) return;
  for (const name of ['not-ready', 'unreachable']) {
    const key = dialect.subkey('node', name);
    const present = spec.tolerations ?? [];
    if (present.some((toleration) => toleratesEviction(toleration, key))) continue;
    spec.tolerations = [
      ...present,
      { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: DEFAULT_SECONDS },
    ];
  }
}

function toleratesEviction({ key = '', effect }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || !effect);
}
