/**
 * Selects plugins by name and configures them, as the reference server's flags do: `--enable-admission-plugins`,
 * `--disable-admission-plugins` and `--admission-control-config-file`.
 */
import { dialects, serviceGroup } from '../../meta/dialect.js';
import { isRecord } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { podSecurityWith } from '../pod-security/pod-security.js';
import type { PodSecurityOptions } from '../pod-security/policy.js';
import type { AdmissionPlugin } from '../types.js';
import { alwaysAdmit, alwaysDeny } from './always.js';
import { alwaysPullImages } from './always-pull-images.js';
import { defaultAdmission, inReferenceOrder } from './default-plugins.js';
import { denyServiceExternalIPs } from './deny-service-external-ips.js';
import { type EventRateLimitOptions, eventRateLimit } from './event-rate-limit.js';
import { namespaceAutoProvision, namespaceExists } from './namespaces.js';
import { nodeRestriction } from './node-restriction/node-restriction.js';
import { ownerReferencesPermissionEnforcement } from './owner-references.js';
import { limitPodHardAntiAffinityTopology, podNodeSelector, podNodeSelectorWith } from './pod-placement.js';
import { serviceAccount } from './service-account.js';
import {
  extendedResourceToleration,
  type PodTolerationRestrictionOptions,
  podTolerationRestriction,
  podTolerationRestrictionWith,
} from './tolerations.js';

export interface AdmissionPluginOptions {
  /** Names of plugins in addition to the default ones. */
  readonly enable?: readonly string[] | undefined;
  /** Names of default plugins that are not used. */
  readonly disable?: readonly string[] | undefined;
  /** Configurations by plugin name, as in an AdmissionConfiguration of the reference server. Unused ones are ignored. */
  readonly configurations?: Readonly<Record<string, unknown>> | undefined;
}

const OPTIONS = ['enable', 'disable', 'configurations'] as const satisfies readonly (keyof AdmissionPluginOptions)[];

/**
 * The default plugins with changes, in the reference server's order. Throws a TypeError for unknown names and invalid
 * configurations.
 *
 * @example
 * createCluster({ admission: admissionPlugins({ enable: ['NodeRestriction'], disable: ['LimitRanger'] }) });
 */
export function admissionPlugins(options: AdmissionPluginOptions = {}): readonly AdmissionPlugin[] {
  refuseUnknownOptions('admissionPlugins', options, OPTIONS);
  const { enable = [], disable = [], configurations = {} } = options;
  requireKnown('enable', enable);
  requireKnown('disable', disable);
  const both = enable.filter((name) => disable.includes(name));
  if (both.length > 0) throw new TypeError(`orchplane: plugins are both enabled and disabled: ${both.join(', ')}`);
  const names = new Set([...defaultAdmission.map(({ name }) => name), ...enable]);
  for (const name of disable) names.delete(name);
  return inReferenceOrder([...names].map((name) => pluginNamed(name, configurations)));
}

/** Plugins without a configuration, by name. */
const PLUGINS: ReadonlyMap<string, AdmissionPlugin> = new Map(
  [
    ...defaultAdmission,
    alwaysAdmit,
    alwaysDeny,
    alwaysPullImages,
    denyServiceExternalIPs,
    extendedResourceToleration,
    limitPodHardAntiAffinityTopology,
    namespaceAutoProvision,
    namespaceExists,
    nodeRestriction,
    ownerReferencesPermissionEnforcement,
    podNodeSelector,
    podTolerationRestriction,
    serviceAccount,
  ].map((plugin) => [plugin.name, plugin]),
);

/** The group and versions of a configuration; undefined if it has no type. */
interface ConfigurationType {
  readonly kind: string;
  readonly group: (typeof GROUPS)[keyof typeof GROUPS];
  readonly versions: readonly string[];
}

const GROUPS = {
  podSecurity: 'pod-security.admission.config',
  eventRateLimit: 'eventratelimit.admission',
  tolerations: 'podtolerationrestriction.admission',
} as const;

interface ConfigurablePlugin {
  readonly type?: ConfigurationType;
  create(configuration: Readonly<Record<string, unknown>>): AdmissionPlugin;
}

const CONFIGURABLE: Readonly<Record<string, ConfigurablePlugin>> = {
  PodSecurity: {
    type: {
      kind: 'PodSecurityConfiguration',
      group: GROUPS.podSecurity,
      versions: ['v1', 'v1beta1', 'v1alpha1'],
    },
    create({ defaults = {}, ...others }) {
      if (!isRecord(defaults)) throw new TypeError('orchplane: the defaults of PodSecurity are not an object');
      const renamed = Object.entries(defaults).map(([key, value]) => [key.replace(/-version$/, 'Version'), value]);
      return podSecurityWith({ ...others, defaults: Object.fromEntries(renamed) } as PodSecurityOptions);
    },
  },
  EventRateLimit: {
    type: { kind: 'Configuration', group: GROUPS.eventRateLimit, versions: ['v1alpha1'] },
    create: (configuration) => eventRateLimit(configuration as unknown as EventRateLimitOptions),
  },
  PodTolerationRestriction: {
    type: { kind: 'Configuration', group: GROUPS.tolerations, versions: ['v1alpha1'] },
    create: (configuration) => podTolerationRestrictionWith(configuration as PodTolerationRestrictionOptions),
  },
  PodNodeSelector: {
    create({ podNodeSelectorPluginConfig: selectors = {}, ...unknown }) {
      if (!isRecord(selectors) || Object.keys(unknown).length > 0) {
        throw new TypeError(
          'orchplane: the configuration of PodNodeSelector has one field, podNodeSelectorPluginConfig',
        );
      }
      const { clusterDefaultNodeSelector, ...namespaces } = selectors as Record<string, string>;
      return podNodeSelectorWith({
        ...(clusterDefaultNodeSelector === undefined ? {} : { clusterDefaultNodeSelector }),
        namespaces,
      });
    },
  },
};

function requireKnown(option: string, names: readonly string[]): void {
  const unknown = names.find((name) => !PLUGINS.has(name) && !Object.hasOwn(CONFIGURABLE, name));
  if (unknown === undefined) return;
  const why = unknown === 'ImagePolicyWebhook' ? 'is not available here' : 'is unknown';
  throw new TypeError(`orchplane: ${option}: the admission plugin "${unknown}" ${why}`);
}

function pluginNamed(name: string, configurations: Readonly<Record<string, unknown>>): AdmissionPlugin {
  const configuration = Object.hasOwn(configurations, name) ? configurations[name] : undefined;
  const configurable = Object.hasOwn(CONFIGURABLE, name) ? CONFIGURABLE[name] : undefined;
  if (configuration === undefined || configuration === null) {
    const plugin = PLUGINS.get(name);
    if (plugin !== undefined) return plugin;
    throw new TypeError(`orchplane: the admission plugin ${name} needs a configuration`);
  }
  if (configurable === undefined)
    throw new TypeError(`orchplane: the admission plugin ${name} has no configuration here`);
  if (!isRecord(configuration)) throw new TypeError(`orchplane: the configuration of ${name} is not an object`);
  return configurable.create(withoutType(name, configuration, configurable.type));
}

/** Checks `apiVersion` and `kind` and removes them. Groups are accepted in every dialect. */
function withoutType(
  name: string,
  configuration: Readonly<Record<string, unknown>>,
  type: ConfigurationType | undefined,
): Readonly<Record<string, unknown>> {
  if (type === undefined) return configuration;
  const { apiVersion, kind, metadata: _, ...fields } = configuration;
  const known = dialects.flatMap((dialect) =>
    type.versions.map((version) => `${dialect.group(serviceGroup(type.group))}/${version}`),
  );
  if (kind === type.kind && known.some((each) => each === apiVersion)) return fields;
  const found = `${String(apiVersion)} ${String(kind)}`;
  throw new TypeError(`orchplane: the configuration of ${name} is a ${type.kind} of ${known[0]}, not ${found}`);
}
