/**
 * An account can keep its pods to the secrets that it lists.
 */
import type { Container, EphemeralContainer } from '../../kinds/core/v1/pod-spec/container.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { ServiceAccount } from '../../kinds/core/v1/service-account.js';
import type { Dialect } from '../../meta/dialect.js';
import { own } from '../../util/json.js';

/** Spellings of yes. */
const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];

export function limitsSecrets({ metadata }: ServiceAccount, dialect: Dialect): boolean {
  return TRUE.includes(own(metadata.annotations ?? {}, dialect.key('enforce-mountable-secrets')) ?? '');
}

/** The first secret that a pod may not use, in words. Ephemeral containers are looked at when they come. */
export function forbiddenSecret(spec: PodSpec, account: ServiceAccount): string | undefined {
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

export function forbiddenSecretOfEphemeral(spec: PodSpec, account: ServiceAccount): string | undefined {
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
