/**
 * Every pod acts as a ServiceAccount of its namespace: it gets one if it names none, is refused if there is none, and
 * finds a token of it in its containers. Off by default, because somebody must make accounts before pods: in a whole
 * cluster a controller does. spec: ServiceAccount
 */
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import { mirrorKey } from '../../kinds/core/v1/pod-spec/annotations.js';
import type { Container, EphemeralContainer } from '../../kinds/core/v1/pod-spec/container.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { Volume } from '../../kinds/core/v1/pod-spec/volume.js';
import type { ServiceAccount } from '../../kinds/core/v1/service-account.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { nextTurn } from '../../util/clock.js';
import { own } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { namesSecret } from './pod-references.js';
import { type AnyRequest, isFor, kindsOf, refuse } from './requests.js';

/** Spellings of yes. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];

export const serviceAccount: AdmissionPlugin = Object.freeze({
  name: 'ServiceAccount',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  mayWait: ({ groupResource }: ServedKind) => groupResource.group === '' && groupResource.resource === 'pods',
  mutate,
  validate,
});

const DEFAULT_ACCOUNT = 'default';

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (request.operation !== 'CREATE' || !isFor(request, '', 'pods') || request.object === undefined) return undefined;
  const pod = request.object as unknown as Pod;
  const name = pod.spec.serviceAccountName || DEFAULT_ACCOUNT;
  const isToCome = name === DEFAULT_ACCOUNT && !isMirror(pod, view) && find(name, request, view) === undefined;
  return chain(isToCome ? untilFound(name, request, view) : undefined, () => complete(pod, request, view));
}

/** How often a pod that is early looks for the account that a controller makes in every namespace. */
const LOOKS = 10;

async function untilFound(name: string, request: AnyRequest, view: ClusterView): Promise<void> {
  for (let look = 1; look < LOOKS && find(name, request, view) === undefined; look++) await nextTurn();
}

function complete(pod: Pod, request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  // Nodes compare mirror pods with their own, so that nothing in them may be changed.
  if (!isMirror(pod, view)) {
    const { spec } = pod;
    spec.serviceAccountName ||= DEFAULT_ACCOUNT;
    spec.serviceAccount = spec.serviceAccountName;
    const account = accountOf(pod, request, view);
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec, view);
    const pulling = account.imagePullSecrets ?? [];
    if ((spec.imagePullSecrets ?? []).length === 0 && pulling.length > 0) {
      spec.imagePullSecrets = pulling.map(({ name = '' }) => ({ name }));
    }
  }
  checkNew(pod, request, view);
}

function validate(request: AdmissionRequest, view: ClusterView): void {
  const { operation, subresource, object } = request;
  if (object === undefined) return;
  const pod = object as unknown as Pod;
  if (operation === 'CREATE' && subresource === '') checkNew(pod, request, view);
  if (operation === 'UPDATE' && subresource === 'ephemeralcontainers') checkEphemeral(pod, request, view);
}

function isMirror({ metadata }: Pod, { dialect }: ClusterView): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect));
}

function accountOf({ metadata, spec }: Pod, request: AnyRequest, view: ClusterView): ServiceAccount {
  const { namespace } = request;
  const name = spec.serviceAccountName ?? '';
  if (name === '') throw refuse(request, `no service account specified for pod ${namespace}/${metadata.name ?? ''}`);
  const found = find(name, request, view);
  if (found !== undefined) return found;
  const { message } = errors.notFound({ group: '', resource: 'serviceaccount' }, name);
  throw refuse(request, `error looking up service account ${namespace}/${name}: ${message}`);
}

function find(name: string, { namespace }: AnyRequest, view: ClusterView): ServiceAccount | undefined {
  return view.get({ group: '', resource: 'serviceaccounts', namespace, name }) as ServiceAccount | undefined;
}

function checkNew(pod: Pod, request: AnyRequest, view: ClusterView): void {
  const problem = isMirror(pod, view) ? mirrorProblem(pod.spec) : accountProblem(pod, request, view);
  if (problem !== undefined) throw refuse(request, problem);
}

/** A pod that a node runs by itself must not depend on what the cluster holds. */
function mirrorProblem(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'a mirror pod may not reference service accounts';
  if (namesSecret(spec)) return 'a mirror pod may not reference secrets';
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const hasToken = sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined);
  return hasToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

function accountProblem(pod: Pod, request: AnyRequest, view: ClusterView): string | undefined {
  const account = accountOf(pod, request, view);
  return limitsSecrets(account, view.dialect) ? forbiddenSecret(pod.spec, account) : undefined;
}

function checkEphemeral(pod: Pod, request: AnyRequest, view: ClusterView): void {
  const account = accountOf(pod, request, view);
  if (!limitsSecrets(account, view.dialect)) return;
  const problem = forbiddenSecretOfEphemeral(pod.spec, account);
  // The one refusal of this plugin that the reference server lets escape as a bare text.
  if (problem !== undefined) throw errors.plain(problem);
}

const VOLUME_PREFIX = 'kube-api-access-';

/** Into all containers that have nothing else in that place. Changes the spec. */
function mountToken(spec: PodSpec, { dialect, ids }: ClusterView): void {
  const mountPath = `/var/run/secrets/${dialect.key('serviceaccount')}`;
  const present = (spec.volumes ?? []).find(({ name }) => name.startsWith(VOLUME_PREFIX));
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({ volumeMounts }) => !(volumeMounts ?? []).some((mount) => mount.mountPath === mountPath),
  );
  if (containers.length === 0) return;
  const name = present?.name ?? `${VOLUME_PREFIX}${ids.suffix(5)}`;
  for (const container of containers) {
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
  }
  if (present === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

/** A bit more than an hour: tokens of this life are known to come from here, and are let live longer. */
const TOKEN_SECONDS = 3607;

function tokenVolume(name: string): Volume {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 0o644,
    },
  };
}

function limitsSecrets({ metadata }: ServiceAccount, dialect: Dialect): boolean {
  return TRUE.includes(own(metadata.annotations ?? {}, dialect.key('enforce-mountable-secrets')) ?? '');
}

/** The first secret that a pod may not use, in words. Ephemeral containers are looked at when they come. */
function forbiddenSecret(spec: PodSpec, account: ServiceAccount): string | undefined {
  const { why, isListed } = lists(account);
  for (const { secret } of spec.volumes ?? []) {
    if (secret === undefined || isListed(secret.secretName ?? '')) continue;
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${why}`;
  }
  const inContainers =
    first(spec.initContainers ?? [], 'init container', account) ?? first(spec.containers ?? [], 'container', account);
  if (inContainers !== undefined) return inContainers;
  const pulling = new Set((account.imagePullSecrets ?? []).map(({ name = '' }) => name));
  const names = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const index = names.findIndex((name) => !pulling.has(name));
  if (index < 0) return undefined;
  const reason = `service account ${account.metadata.name} does not reference that imagePullSecret`;
  return `imagePullSecrets[${index}].name="${names[index]}" is not allowed because ${reason}`;
}

function forbiddenSecretOfEphemeral(spec: PodSpec, account: ServiceAccount): string | undefined {
  return first(spec.ephemeralContainers ?? [], 'ephemeral container', account);
}

function first(
  containers: readonly (Container | EphemeralContainer)[],
  title: string,
  account: ServiceAccount,
): string | undefined {
  const { why, isListed } = lists(account);
  for (const { name, env, envFrom } of containers) {
    for (const variable of env ?? []) {
      const secret = variable.valueFrom?.secretKeyRef;
      if (secret === undefined || isListed(secret.name ?? '')) continue;
      const what = `envVar ${variable.name} referencing secret.secretName="${secret.name ?? ''}"`;
      return `${title} ${name} with ${what} ${why}`;
    }
    for (const { secretRef } of envFrom ?? []) {
      if (secretRef === undefined || isListed(secretRef.name ?? '')) continue;
      return `${title} ${name} with envFrom referencing secret.secretName="${secretRef.name ?? ''}" ${why}`;
    }
  }
  return undefined;
}

function lists({ metadata, secrets }: ServiceAccount) {
  const names = new Set((secrets ?? []).map(({ name = '' }) => name));
  return {
    why: `is not allowed because service account ${metadata.name} does not reference that secret`,
    isListed: (name: string): boolean => names.has(name),
  };
}
