/**
 * Selects the checks of a pod security level in a release, and runs them on a pod.
 */
import { getOrInsertComputed } from '../../util/once.js';
import {
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  privileged,
  procMount,
  seccompAnnotations,
  seccompProfileBaseline,
  seLinuxOptions,
  seLinuxOptionsWithEngine,
  sysctls,
  windowsHostProcess,
} from './baseline-checks.js';
import { type LevelVersion, minorOf } from './policy.js';
import {
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  exceptWindows,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfileRestricted,
} from './restricted-checks.js';
import type { Check, ReviewedPod, Violation } from './review.js';

/** The versions of one check, each with the first release that it applies to; before that, the check does not exist. */
interface Rule {
  readonly versions: readonly (readonly [minor: number, check: Check])[];
  /** The baseline rule that this one replaces, because it is stricter. */
  readonly replaces?: Rule;
}

const always = (check: Check): Rule => ({ versions: [[0, check]] });

const capabilities = always(capabilitiesBaseline);
const hostPaths = always(hostPathVolumes);
const seccomp: Rule = {
  versions: [
    [0, seccompAnnotations],
    [19, seccompProfileBaseline],
  ],
};

/** In the order of messages. */
const BASELINE: readonly Rule[] = [
  always(appArmorProfile),
  capabilities,
  always(hostNamespaces),
  hostPaths,
  always(hostPorts),
  always(privileged),
  always(procMount),
  {
    versions: [
      [0, seLinuxOptions],
      [31, seLinuxOptionsWithEngine],
    ],
  },
  seccomp,
  { versions: sysctls },
  always(windowsHostProcess),
];

const RESTRICTED: readonly Rule[] = [
  {
    versions: [
      [8, allowPrivilegeEscalation],
      [25, exceptWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    versions: [
      [22, capabilitiesRestricted],
      [25, exceptWindows(capabilitiesRestricted)],
    ],
    replaces: capabilities,
  },
  { ...always(restrictedVolumes), replaces: hostPaths },
  always(runAsNonRoot),
  { versions: [[23, runAsUser]] },
  {
    versions: [
      [19, seccompProfileRestricted],
      [25, exceptWindows(seccompProfileRestricted)],
    ],
    replaces: seccomp,
  },
];

/** All violations of a level; empty if the pod is allowed. */
export function evaluatePod(levelVersion: LevelVersion, pod: ReviewedPod): Violation[] {
  return checksOf(levelVersion).flatMap((check) => check(pod) ?? []);
}

/** `host namespaces (hostPID=true), privileged (container "a" …)`. */
export function printDetails(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}

/** `host namespaces, privileged`. */
export function printReasons(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ');
}

/** The last release with a change; later releases use the same checks. */
const NEWEST = Math.max(...[...BASELINE, ...RESTRICTED].flatMap(({ versions }) => versions.map(([minor]) => minor)));

const checksByLevel = new Map<string, readonly Check[]>();

function checksOf({ level, version }: LevelVersion): readonly Check[] {
  if (level === 'privileged') return [];
  const minor = Math.min(minorOf(version), NEWEST);
  const key = `${level}:${minor}`;
  return getOrInsertComputed(checksByLevel, key, () => selectChecks(level === 'baseline' ? [] : RESTRICTED, minor));
}

function selectChecks(added: readonly Rule[], minor: number): Check[] {
  const inForce = added.filter((rule) => checkAt(rule, minor) !== undefined);
  const replaced = new Set(inForce.map(({ replaces }) => replaces));
  return [...BASELINE.filter((rule) => !replaced.has(rule)), ...inForce].flatMap((rule) => checkAt(rule, minor) ?? []);
}

function checkAt({ versions }: Rule, minor: number): Check | undefined {
  return versions.findLast(([first]) => first <= minor)?.[1];
}
