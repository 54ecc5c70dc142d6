/**
 * What a cluster may set for all its namespaces: what holds where labels say nothing, and whom it does not concern.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { isLevel, isVersion, LATEST, type Level, MODES, type Mode, type Policy } from './policy.js';

export interface PodSecurityOptions {
  /** Levels (`baseline`) and versions (`v1.30`, `latest`) for namespaces without labels; `privileged` and `latest`. */
  readonly defaults?: {
    readonly enforce?: Level;
    readonly enforceVersion?: string;
    readonly audit?: Level;
    readonly auditVersion?: string;
    readonly warn?: Level;
    readonly warnVersion?: string;
  };
  /** Requests that nothing is held against; none unless said otherwise. */
  readonly exemptions?: {
    readonly usernames?: readonly string[];
    readonly namespaces?: readonly string[];
    readonly runtimeClasses?: readonly string[];
  };
}

export interface PodSecuritySettings {
  readonly defaults: Policy;
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

/** Throws TypeError for what cannot be meant. */
export function podSecuritySettings(options: PodSecurityOptions): PodSecuritySettings {
  refuseUnknownOptions('podSecurityWith', options, ['defaults', 'exemptions']);
  const { defaults = {}, exemptions = {} } = options;
  const modes = MODES.flatMap((mode) => [mode, `${mode}Version`]);
  refuseUnknownOptions('podSecurityWith, defaults', defaults, modes);
  refuseUnknownOptions('podSecurityWith, exemptions', exemptions, ['usernames', 'namespaces', 'runtimeClasses']);
  const read = (mode: Mode) => {
    const { [mode]: level = 'privileged', [`${mode}Version` as const]: version = LATEST } = defaults;
    if (!isLevel(level)) throw refusal(`defaults.${mode}`, level, 'privileged, baseline or restricted');
    if (!isVersion(version)) throw refusal(`defaults.${mode}Version`, version, 'latest or v1.x');
    return { level, version };
  };
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  for (const name of usernames) if (!name) throw refusal('exemptions.usernames', name, 'the name of a user');
  for (const name of namespaces) {
    if (dnsLabelProblems(name).length > 0) throw refusal('exemptions.namespaces', name, 'the name of a namespace');
  }
  for (const name of runtimeClasses) {
    if (dnsSubdomainProblems(name).length > 0) {
      throw refusal('exemptions.runtimeClasses', name, 'the name of a RuntimeClass');
    }
  }
  return {
    defaults: { enforce: read('enforce'), audit: read('audit'), warn: read('warn') },
    usernames: new Set(usernames),
    namespaces: new Set(namespaces),
    runtimeClasses: new Set(runtimeClasses),
  };
}

function refusal(option: string, value: string, wanted: string): TypeError {
  return new TypeError(`orchplane: podSecurityWith: ${option} is ${JSON.stringify(value)}; it must be ${wanted}`);
}
