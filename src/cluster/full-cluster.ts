/**
 * createCluster() with all built-in kinds and manifest methods.
 */

import { defaultAdmission } from '../admission/plugins/default-plugins.js';
import { policyTypeCheckReconciler } from '../admission/policy/type-checking.js';
import { rbac } from '../auth/rbac/authorizer.js';
import { createAccountTokens } from '../auth/tokens/account-tokens.js';
import type { ClientDefaults } from '../client/options.js';
import { ValidatingAdmissionPolicy } from '../kinds/admissionregistration/index.js';
import { builtInKinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { removedKinds } from '../kinds/releases/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AppliedManifest } from '../manifests/apply.js';
import { type ApplyYamlOptions, applyYaml } from '../manifests/apply-yaml.js';
import { type DynamicKind, type InstallYamlOptions, installYaml } from '../manifests/install-yaml.js';
import { whyNotServed } from '../manifests/unknown-kind.js';
import type { ExtraReconcilers } from '../server/reconcilers.js';
import { strictMode } from '../server/strict.js';
import { assembleCluster, type Cluster, type ClusterDefaults } from './cluster.js';
import type { ClusterOptions, ForkOptions } from './options.js';

/** Cluster methods for manifests. */
export interface ManifestMethods {
  /**
   * Applies all objects of a text (YAML documents or JSON; lists are expanded) and returns the results in the order of the
   * text. CRDs are applied first, then namespaces, then the rest. Rejects with ManifestsError if an object is rejected; see
   * {@link ApplyYamlOptions}.
   *
   * @example
   * await cluster.applyYaml(text, { fieldManager: 'ci' });
   */
  applyYaml(text: string, options?: ApplyYamlOptions): Promise<readonly AppliedManifest[]>;
  /**
   * Applies the CRDs of a text and returns one kind for each, in the order of the text.
   *
   * @example
   * const [Gadget] = await cluster.installYaml(text);
   */
  installYaml(text: string, options?: InstallYamlOptions): Promise<readonly DynamicKind[]>;
  /**
   * A served kind by apiVersion and kind. Throws a TypeError that lists what is served instead.
   *
   * @example
   * const gadgets = cluster.api(cluster.kind('example.com/v1', 'Gadget'));
   */
  kind(apiVersion: string, kind: string): DynamicKind;
}

/** A control plane in this process. The cluster is also a client. */
export interface FullCluster extends Cluster, ManifestMethods {
  fork(options?: ForkOptions): FullCluster;
  at(resourceVersion: string, options?: ForkOptions): FullCluster;
}

/**
 * Creates a cluster with the default namespaces and all built-in kinds, synchronously.
 *
 * @example
 * const cluster = createCluster();
 * await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { size: 'm' } });
 */
export function createCluster(options: ClusterOptions = {}): FullCluster {
  const defaults = options.release === undefined ? FULL : WITH_REMOVED_KINDS;
  return assembleCluster(options, defaults, manifestMethods) as FullCluster;
}

const FULL: ClusterDefaults = {
  kinds: builtInKinds,
  admission: defaultAdmission,
  authorizer: rbac(),
  accountTokens: createAccountTokens,
  policyStatus: policyReconcilers,
  strict: strictMode,
};

/** For the option `release`: kinds that later releases removed. */
const WITH_REMOVED_KINDS: ClusterDefaults = { ...FULL, kinds: [...builtInKinds, ...removedKinds] };

function policyReconcilers(registry: { all(): readonly ServedKind[] }): ExtraReconcilers {
  const kinds = () => registry.all();
  return new Map([
    [ValidatingAdmissionPolicy as unknown as Kind, (server) => policyTypeCheckReconciler(server, { kinds })],
  ]);
}

function manifestMethods(cluster: Cluster, defaults: ClientDefaults): ManifestMethods {
  return {
    applyYaml: (text, options) => applyYaml(cluster, text, options, defaults),
    installYaml: (text, options) => installYaml(cluster, text, options, defaults),
    kind(apiVersion, kind) {
      if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
        throw new TypeError("orchplane: kind takes an apiVersion and a kind: cluster.kind('apps/v1', 'Deployment')");
      }
      const served = cluster.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
      if (served !== undefined) return served.kind as unknown as DynamicKind;
      const why = whyNotServed({ apiVersion, kind }, cluster.kinds());
      throw new TypeError(`orchplane: this cluster serves no ${kind} in ${apiVersion}${why}`);
    },
  };
}
