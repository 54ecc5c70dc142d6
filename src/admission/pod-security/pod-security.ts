/**
 * Pods that ask for more than the labels of their namespace allow are refused, or spoken of. Templates of pods are only
 * spoken of: what is made from them is looked at when it is made. spec: Namespace
 */

import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import { errors } from '../../meta/errors.js';
import { printFieldError } from '../../meta/field-error.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { isResource } from '../plugins/requests.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { evaluatePod, printDetails } from './evaluate.js';
import { validateNamespace } from './namespaces.js';
import {
  LATEST,
  type LevelVersion,
  MODES,
  type PodSecurityOptions,
  type PodSecuritySettings,
  type Policy,
  podSecurityKey,
  podSecuritySettings,
  policyOf,
  printLevel,
  type ReadPolicy,
} from './policy.js';
import { hasPod, type PodLike, podOf, reviewed } from './review.js';

/**
 * The plugin with other defaults, or with exemptions.
 *
 * @example
 * const strict = podSecurityWith({ defaults: { enforce: 'baseline' }, exemptions: { namespaces: ['kube-system'] } });
 */
export function podSecurityWith(options: PodSecurityOptions = {}): AdmissionPlugin {
  const settings = podSecuritySettings(options);
  // Labels of stored objects stay the same object until they are changed.
  const known = new WeakMap<object, ReadPolicy>();
  const policyIn = (namespace: ApiObject, { dialect }: ClusterView): ReadPolicy => {
    const { labels = NO_LABELS } = namespace.metadata;
    let read = known.get(labels);
    if (read === undefined) {
      read = policyOf(labels, settings.defaults, dialect);
      known.set(labels, read);
    }
    return read;
  };
  return Object.freeze({
    name: 'PodSecurity',
    isBuiltIn: true,
    handlesKind: (served) => isResource(served, '', 'namespaces') || hasPod(served),
    validate(request, view) {
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return;
      if (isResource(request.served, '', 'namespaces')) validateNamespace(request, view, settings);
      else validatePod(request, view, { settings, policyIn });
    },
  } satisfies AdmissionPlugin);
}

export const podSecurity: AdmissionPlugin = podSecurityWith();

const NO_LABELS = Object.freeze({});

/** Below these, the object is no pod, or nothing in it that counts can change. */
const IGNORED_BELOW_PODS: ReadonlySet<string> = new Set([
  'attach',
  'binding',
  'eviction',
  'exec',
  'log',
  'portforward',
  'proxy',
  'status',
]);

interface Rules {
  readonly settings: PodSecuritySettings;
  readonly policyIn: (namespace: ApiObject, view: ClusterView) => ReadPolicy;
}

/** Also for whatever makes pods. */
function validatePod(request: AdmissionRequest, view: ClusterView, rules: Rules): void {
  const { object, oldObject, served, subresource } = request;
  const isPod = isResource(served, '', 'pods');
  if (object === undefined || (isPod ? IGNORED_BELOW_PODS.has(subresource) : subresource !== '')) return;
  const pod = podOf(object, served);
  const note: Note = (key, value) => request.annotate(podSecurityKey(key, view.dialect), value);
  const exempted = exemption(request, pod, rules.settings);
  if (exempted === 'namespace' || exempted === 'user') {
    note('exempt', exempted);
    return;
  }
  const namespace = view.namespace(request.namespace);
  if (namespace === undefined) {
    missingNamespace(request, isPod, note);
    return;
  }
  const { policy, errors: problems } = rules.policyIn(namespace, view);
  if (problems.length === 0 && isFree(policy, isPod)) {
    if (isPod) note('enforce-policy', FREE);
    return;
  }
  if (pod === undefined) return;
  if (isPod && oldObject !== undefined && !isSignificant(pod.spec, (oldObject as unknown as PodLike).spec)) return;
  if (exempted !== undefined) {
    note('exempt', exempted);
    return;
  }
  if (problems.length > 0) note('error', `Failed to parse policy: ${aggregate(problems.map(printFieldError))}`);
  judge(request, policy, { isPod, note, detailsAt: remembering(pod, view) });
}

/** Why nothing is held against a request. */
function exemption(
  { namespace, user }: AdmissionRequest,
  pod: PodLike | undefined,
  { namespaces, usernames, runtimeClasses }: PodSecuritySettings,
): 'namespace' | 'user' | 'runtimeClass' | undefined {
  if (namespaces.has(namespace)) return 'namespace';
  if (usernames.has(user.user)) return 'user';
  return runtimeClasses.has(pod?.spec.runtimeClassName ?? '') ? 'runtimeClass' : undefined;
}

const FREE = printLevel({ level: 'privileged', version: LATEST });

/** Nobody would be told anything. */
function isFree(policy: Policy, isPod: boolean): boolean {
  for (const mode of MODES) {
    if (policy[mode].level !== 'privileged' && (mode !== 'enforce' || isPod)) return false;
  }
  return true;
}

type Note = (key: string, value: string) => void;

function missingNamespace({ namespace }: AdmissionRequest, isPod: boolean, note: Note): void {
  const missing = errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  const what = `failed to lookup namespace ${quote(namespace)}`;
  const refusal = errors.internal(what);
  note('error', `${isPod ? refusal.message : what}: ${missing.message}`);
  if (isPod) throw refusal;
}

/** What is wrong with the pod at a level, empty if nothing is. Modes of the same level are looked at once. */
function remembering(pod: PodLike, view: ClusterView): (levelVersion: LevelVersion) => string {
  const known = new Map<string, string>();
  return (levelVersion) => {
    const key = printLevel(levelVersion);
    const details = known.get(key) ?? printDetails(evaluatePod(levelVersion, reviewed(pod, view)));
    known.set(key, details);
    return details;
  };
}

function judge(
  request: AdmissionRequest,
  { enforce, audit, warn }: Policy,
  about: { readonly isPod: boolean; readonly note: Note; readonly detailsAt: (at: LevelVersion) => string },
): void {
  const { isPod, note, detailsAt } = about;
  if (isPod) note('enforce-policy', printLevel(enforce));
  const audited = detailsAt(audit);
  if (audited !== '') note('audit-violations', `would violate PodSecurity ${quote(printLevel(audit))}: ${audited}`);
  const refused = isPod ? detailsAt(enforce) : '';
  if (refused !== '') {
    const why = `violates PodSecurity ${quote(printLevel(enforce))}: ${refused}`;
    throw errors.forbidden(request.served.groupResource, request.sentName, why);
  }
  const warned = detailsAt(warn);
  if (warned !== '') request.warnings.push(`would violate PodSecurity ${quote(printLevel(warn))}: ${warned}`);
}

/** One text alone, several in brackets; repetitions are told once. */
function aggregate(texts: readonly string[]): string {
  const told = [...new Set(texts)];
  return told.length === 1 ? told.join() : `[${told.join(', ')}]`;
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

/** By position. */
function hasOtherImages(next: readonly WithImage[] | null = [], live: readonly WithImage[] | null = []): boolean {
  if (next?.length !== live?.length) return true;
  return (next ?? []).some(({ image = '' }, index) => image !== (live?.[index]?.image ?? ''));
}
