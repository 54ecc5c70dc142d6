/**
 * The PodSecurity plugin: rejects, audits or warns about pods that violate the level in their namespace's labels. Pod
 * templates are only audited and warned about, because their pods are checked on creation. spec: Namespace
 */

import type { PodSpec } from '../../kinds/generated/core-v1.js';
import { errors } from '../../meta/errors.js';
import { aggregateText, printFieldError } from '../../meta/field-error.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { getOrInsertComputed } from '../../util/once.js';
import { builtIn, isResource } from '../plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { evaluatePod, printDetails } from './evaluate.js';
import { validateNamespace } from './namespaces.js';
import {
  LATEST,
  type LevelVersion,
  MODES,
  type ParsedPolicy,
  type PodSecurityOptions,
  type PodSecuritySettings,
  type Policy,
  podSecurityKey,
  podSecuritySettings,
  policyOf,
  printLevel,
} from './policy.js';
import { hasPodSpec, type PodLike, podOf, toReviewedPod } from './review.js';

/**
 * The plugin with other defaults or with exemptions.
 *
 * @example
 * const strict = podSecurityWith({ defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['kube-system'] } });
 */
export function podSecurityWith(options: PodSecurityOptions = {}): AdmissionPlugin {
  const settings = podSecuritySettings(options);
  // Labels of stored objects are immutable, so the policy is cached per labels object.
  const cache = new WeakMap<object, ParsedPolicy>();
  const policyIn = (namespace: ApiObject, { dialect }: ClusterView): ParsedPolicy => {
    const { labels = NO_LABELS } = namespace.metadata;
    return getOrInsertComputed(cache, labels, () => policyOf(labels, settings.defaults, dialect));
  };
  return builtIn('PodSecurity', {
    handlesKind: (served) => isResource(served, '', 'namespaces') || hasPodSpec(served),
    validate(request, view) {
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return;
      if (isResource(request.served, '', 'namespaces')) validateNamespace(request, view, settings);
      else validatePod(request, view, { settings, policyIn });
    },
  });
}

export const podSecurity: AdmissionPlugin = podSecurityWith();

const NO_LABELS = Object.freeze({});

/** Subresources whose object is not a pod, or that cannot change relevant fields. */
const IGNORED_SUBRESOURCES: ReadonlySet<string> = new Set([
  'attach',
  'binding',
  'eviction',
  'exec',
  'log',
  'portforward',
  'proxy',
  'status',
]);

interface PolicySource {
  readonly settings: PodSecuritySettings;
  readonly policyIn: (namespace: ApiObject, view: ClusterView) => ParsedPolicy;
}

/** Validates pods and objects with pod templates. */
function validatePod(request: AdmissionRequest, view: ClusterView, source: PolicySource): void {
  const { object, oldObject, served, subresource } = request;
  const isPod = isResource(served, '', 'pods');
  if (object === undefined || (isPod ? IGNORED_SUBRESOURCES.has(subresource) : subresource !== '')) return;
  const pod = podOf(object, served);
  const annotate: Annotate = (key, value) => request.annotate(podSecurityKey(key, view.dialect), value);
  const exempted = exemption(request, pod, source.settings);
  if (exempted === 'namespace' || exempted === 'user') {
    annotate('exempt', exempted);
    return;
  }
  const namespace = view.namespace(request.namespace);
  if (namespace === undefined) {
    missingNamespace(request, isPod, annotate);
    return;
  }
  const { policy, errors: problems } = source.policyIn(namespace, view);
  if (problems.length === 0 && isUnrestricted(policy, isPod)) {
    if (isPod) annotate('enforce-policy', UNRESTRICTED);
    return;
  }
  if (pod === undefined) return;
  if (isPod && oldObject !== undefined && !isSignificant(pod.spec, oldObject['spec'] as PodSpec)) return;
  if (exempted !== undefined) {
    annotate('exempt', exempted);
    return;
  }
  if (problems.length > 0) annotate('error', `Failed to parse policy: ${aggregateText(problems.map(printFieldError))}`);
  applyPolicy(request, policy, { isPod, annotate, detailsAt: cachedDetails(pod, view) });
}

/** The reason why a request is exempt. */
function exemption(
  { namespace, user }: AdmissionRequest,
  pod: PodLike | undefined,
  { namespaces, usernames, runtimeClasses }: PodSecuritySettings,
): 'namespace' | 'user' | 'runtimeClass' | undefined {
  if (namespaces.has(namespace)) return 'namespace';
  if (usernames.has(user.user)) return 'user';
  return runtimeClasses.has(pod?.spec.runtimeClassName ?? '') ? 'runtimeClass' : undefined;
}

const UNRESTRICTED = printLevel({ level: 'privileged', version: LATEST });

/** Whether no mode could report anything. */
function isUnrestricted(policy: Policy, isPod: boolean): boolean {
  for (const mode of MODES) {
    if (policy[mode].level !== 'privileged' && (mode !== 'enforce' || isPod)) return false;
  }
  return true;
}

type Annotate = (key: string, value: string) => void;

function missingNamespace({ namespace }: AdmissionRequest, isPod: boolean, annotate: Annotate): void {
  const missing = errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  const what = `failed to lookup namespace ${quote(namespace)}`;
  const lookupError = errors.internal(what);
  annotate('error', `${isPod ? lookupError.message : what}: ${missing.message}`);
  if (isPod) throw lookupError;
}

/** The violations at a level as text, empty if there are none. Modes with the same level share the evaluation. */
function cachedDetails(pod: PodLike, view: ClusterView): (levelVersion: LevelVersion) => string {
  const cache = new Map<string, string>();
  return (levelVersion) => {
    const key = printLevel(levelVersion);
    const details = cache.get(key) ?? printDetails(evaluatePod(levelVersion, toReviewedPod(pod, view)));
    cache.set(key, details);
    return details;
  };
}

function applyPolicy(
  request: AdmissionRequest,
  { enforce, audit, warn }: Policy,
  context: { readonly isPod: boolean; readonly annotate: Annotate; readonly detailsAt: (at: LevelVersion) => string },
): void {
  const { isPod, annotate, detailsAt } = context;
  if (isPod) annotate('enforce-policy', printLevel(enforce));
  const audited = detailsAt(audit);
  if (audited !== '') annotate('audit-violations', `would violate PodSecurity ${quote(printLevel(audit))}: ${audited}`);
  const enforced = isPod ? detailsAt(enforce) : '';
  if (enforced !== '') {
    const why = `violates PodSecurity ${quote(printLevel(enforce))}: ${enforced}`;
    throw errors.forbidden(request.served.groupResource, request.sentName, why);
  }
  const warned = detailsAt(warn);
  if (warned !== '') request.warnings.push(`would violate PodSecurity ${quote(printLevel(warn))}: ${warned}`);
}

function isSignificant(next: PodSpec, live: PodSpec): boolean {
  if (hasOtherImages(next.containers, live.containers)) return true;
  if (hasOtherImages(next.initContainers, live.initContainers)) return true;
  const images = new Map((live.ephemeralContainers ?? []).map(({ name, image = '' }) => [name, image]));
  return (next.ephemeralContainers ?? []).some(({ name, image = '' }) => images.get(name) !== image);
}

interface WithImage {
  readonly image?: string | undefined;
}

/** Compares by position. */
function hasOtherImages(next: readonly WithImage[] | null = [], live: readonly WithImage[] | null = []): boolean {
  if (next?.length !== live?.length) return true;
  return (next ?? []).some(({ image = '' }, index) => image !== (live?.[index]?.image ?? ''));
}
