/**
 * The ServiceAccount plugin: sets the default service account, rejects pods whose account does not exist, and mounts a
 * token into the containers. Off by default, because it needs the controller that creates the default accounts.
 */
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import { mirrorKey } from '../../kinds/core/v1/pod-spec/annotations.js';
import { referencesSecret } from '../../kinds/core/v1/pod-spec/references.js';
import type { ServiceAccount } from '../../kinds/core/v1/service-account.js';
import type { Container, EphemeralContainer, PodSpec, Volume } from '../../kinds/generated/core-v1.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { nextTurn } from '../../util/clock.js';
import { own } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { type AnyRequest, builtIn, forbiddenError, isRequestFor, kindsOf } from './requests.js';

export const serviceAccount = /* @__PURE__ */ builtIn('ServiceAccount', {
  handlesKind: kindsOf(['', 'pods']),
  mayBeAsynchronous: ({ groupResource }: ServedKind) => groupResource.group === '' && groupResource.resource === 'pods',
  mutate,
  validate,
});

const DEFAULT_ACCOUNT = 'default';

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (request.operation !== 'CREATE' || !isRequestFor(request, '', 'pods') || request.object === undefined)
    return undefined;
  const pod = request.object as unknown as Pod;
  const name = pod.spec.serviceAccountName || DEFAULT_ACCOUNT;
  const isPending = name === DEFAULT_ACCOUNT && !isMirror(pod, view) && findAccount(name, request, view) === undefined;
  return chain(isPending ? waitForAccount(name, request, view) : undefined, () => completePod(pod, request, view));
}

/** How often creation of a pod checks for the default account, which a controller creates in every namespace. */
const ATTEMPTS = 10;

async function waitForAccount(name: string, request: AnyRequest, view: ClusterView): Promise<void> {
  for (let attempt = 1; attempt < ATTEMPTS && findAccount(name, request, view) === undefined; attempt++)
    await nextTurn();
}

function completePod(pod: Pod, request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  // The kubelet compares mirror pods with its static pods, so they must not be changed.
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
  if (name === '')
    throw forbiddenError(request, `no service account specified for pod ${namespace}/${metadata.name ?? ''}`);
  const found = findAccount(name, request, view);
  if (found !== undefined) return found;
  const { message } = errors.notFound({ group: '', resource: 'serviceaccount' }, name);
  throw forbiddenError(request, `error looking up service account ${namespace}/${name}: ${message}`);
}

function findAccount(name: string, { namespace }: AnyRequest, view: ClusterView): ServiceAccount | undefined {
  return view.get({ group: '', resource: 'serviceaccounts', namespace, name }) as ServiceAccount | undefined;
}

function checkNew(pod: Pod, request: AnyRequest, view: ClusterView): void {
  const problem = isMirror(pod, view) ? mirrorProblem(pod.spec) : accountProblem(pod, request, view);
  if (problem !== undefined) throw forbiddenError(request, problem);
}

/** A static pod must not depend on API objects. */
function mirrorProblem(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'a mirror pod may not reference service accounts';
  if (referencesSecret(spec)) return 'a mirror pod may not reference secrets';
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
  // The reference server returns this one as a plain error.
  // upstream: plugin/pkg/admission/serviceaccount/admission.go Plugin.limitEphemeralContainerSecretReferences
  if (problem !== undefined) throw errors.plain(problem);
}

const VOLUME_PREFIX = 'kube-api-access-';

/** Mounts the token volume, in place, into all containers that have no other mount at the path. */
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

/**
 * The reference server recognizes injected tokens by this duration and extends their expiration.
 * upstream: pkg/serviceaccount/claims.go WarnOnlyBoundTokenExpirationSeconds
 */
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

/** The values that Go's strconv.ParseBool reads as true. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];

function limitsSecrets({ metadata }: ServiceAccount, dialect: Dialect): boolean {
  return TRUE.includes(own(metadata.annotations ?? {}, dialect.key('enforce-mountable-secrets')) ?? '');
}

/** The message for the first secret that the pod may not use. Ephemeral containers are checked when they are added. */
function forbiddenSecret(spec: PodSpec, account: ServiceAccount): string | undefined {
  const { why, isListed } = mountableSecrets(account);
  for (const { secret } of spec.volumes ?? []) {
    if (secret === undefined || isListed(secret.secretName ?? '')) continue;
    return `volume with secret.secretName="${secret.secretName ?? ''}" ${why}`;
  }
  const inContainers =
    forbiddenContainerSecret(spec.initContainers ?? [], 'init container', account) ??
    forbiddenContainerSecret(spec.containers ?? [], 'container', account);
  if (inContainers !== undefined) return inContainers;
  const pulling = new Set((account.imagePullSecrets ?? []).map(({ name = '' }) => name));
  const names = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name);
  const index = names.findIndex((name) => !pulling.has(name));
  if (index < 0) return undefined;
  const reason = `service account ${account.metadata.name} does not reference that imagePullSecret`;
  return `imagePullSecrets[${index}].name="${names[index]}" is not allowed because ${reason}`;
}

function forbiddenSecretOfEphemeral(spec: PodSpec, account: ServiceAccount): string | undefined {
  return forbiddenContainerSecret(spec.ephemeralContainers ?? [], 'ephemeral container', account);
}

function forbiddenContainerSecret(
  containers: readonly (Container | EphemeralContainer)[],
  title: string,
  account: ServiceAccount,
): string | undefined {
  const { why, isListed } = mountableSecrets(account);
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

function mountableSecrets({ metadata, secrets }: ServiceAccount) {
  const names = new Set((secrets ?? []).map(({ name = '' }) => name));
  return {
    why: `is not allowed because service account ${metadata.name} does not reference that secret`,
    isListed: (name: string): boolean => names.has(name),
  };
}
