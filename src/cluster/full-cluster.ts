/**
 * createCluster() with every built-in kind at hand, and manifests.
 */

import { defaultAdmission } from '../admission/plugins/default-plugins.js';
import { policyTypeCheckReconciler } from '../admission/policy/type-checking.js';
import { rbac } from '../auth/rbac/authorizer.js';
import { createAccountTokens } from '../auth/tokens/account-tokens.js';
import type { ClientDefaults } from '../client/options.js';
import { ValidatingAdmissionPolicy } from '../kinds/admissionregistration/index.js';
import { builtInKinds } from '../kinds/index.js';
import type { Kind } from '../kinds/kind.js';
import { formerKinds } from '../kinds/releases/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AppliedManifest } from '../manifests/apply.js';
import { type ApplyYamlOptions, applyYaml } from '../manifests/apply-yaml.js';
import { type DynamicKind, type InstallYamlOptions, installYaml } from '../manifests/install-yaml.js';
import { whyNotServed } from '../manifests/unknown-kind.js';
import type { ExtraReconcilers } from '../server/reconcilers.js';
import { strictMode } from '../server/strict.js';
import type { Cluster, ClusterDefaults } from './cluster.js';
import { assembleCluster } from './cluster.js';
import type { ClusterOptions, ForkOptions } from './options.js';

/** What a cluster can do with manifests. */
export interface ManifestMethods {
  /**
   * Applies all objects of a text (YAML with any number of documents, or JSON; lists are taken apart) and tells what
   * became of each, in the order of the text. Definitions come first, then namespaces, then the rest. Rejects with
   * ManifestsError when something was refused; see {@link ApplyYamlOptions}.
   *
   * @example
   * await cluster.applyYaml(text, { fieldManager: 'ci' });
   */
  applyYaml(text: string, options?: ApplyYamlOptions): Promise<readonly AppliedManifest[]>;
  /**
   * Applies the definitions of a text and returns one kind for each, in the order of the text.
   *
   * @example
   * const [Gadget] = await cluster.installYaml(text);
   */
  installYaml(text: string, options?: InstallYamlOptions): Promise<readonly DynamicKind[]>;
  /**
   * A kind that is served, by the names that documents have for it. Throws a TypeError that says what is served instead.
   *
   * @example
   * const gadgets = cluster.api(cluster.kind('example.com/v1', 'Gadget'));
   */
  kind(apiVersion: string, kind: string): DynamicKind;
}

/** A control plane in this process. It is its own client. */
export interface FullCluster extends Cluster, ManifestMethods {
  fork(options?: ForkOptions): FullCluster;
  at(resourceVersion: string, options?: ForkOptions): FullCluster;
}

/**
 * Makes a cluster: default namespaces, all built-in kinds, nothing to wait for.
 *
 * @example
 * const cluster = createCluster();
 * await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { size: 'm' } });
 */
export function createCluster(options: ClusterOptions = {}): FullCluster {
  const defaults = options.release === undefined ? FULL : EVER;
  return assembleCluster(options, defaults, manifestMethods) as FullCluster;
}

const FULL: ClusterDefaults = {
  kinds: builtInKinds,
  admission: defaultAdmission,
  authorizer: rbac(),
  accountTokens: createAccountTokens,
  policyStatus: policyAttendants,
  strict: strictMode,
};

/** Whoever plays a release has what it still had; others pay nothing for that. */
const EVER: ClusterDefaults = { ...FULL, kinds: [...builtInKinds, ...formerKinds] };

function policyAttendants(registry: { all(): readonly ServedKind[] }): ExtraReconcilers {
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
