/**
 * Which checks make up a level in a release, and what they say about a pod together.
 */
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

/** The forms of one check, each with the first release in which it holds; before the first there is no such check. */
interface Rule {
  readonly forms: readonly (readonly [minor: number, check: Check])[];
  /** The rule of the lower level that is left out where this one holds: this one says more. */
  readonly replaces?: Rule;
}

const always = (check: Check): Rule => ({ forms: [[0, check]] });

const capabilities = always(capabilitiesBaseline);
const hostPaths = always(hostPathVolumes);
const seccomp: Rule = {
  forms: [
    [0, seccompAnnotations],
    [19, seccompProfileBaseline],
  ],
};

/** Position is the order in which they are told. */
const BASELINE: readonly Rule[] = [
  always(appArmorProfile),
  capabilities,
  always(hostNamespaces),
  hostPaths,
  always(hostPorts),
  always(privileged),
  always(procMount),
  {
    forms: [
      [0, seLinuxOptions],
      [31, seLinuxOptionsWithEngine],
    ],
  },
  seccomp,
  { forms: sysctls },
  always(windowsHostProcess),
];

const RESTRICTED: readonly Rule[] = [
  {
    forms: [
      [8, allowPrivilegeEscalation],
      [25, exceptWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    forms: [
      [22, capabilitiesRestricted],
      [25, exceptWindows(capabilitiesRestricted)],
    ],
    replaces: capabilities,
  },
  { ...always(restrictedVolumes), replaces: hostPaths },
  always(runAsNonRoot),
  { forms: [[23, runAsUser]] },
  {
    forms: [
      [19, seccompProfileRestricted],
      [25, exceptWindows(seccompProfileRestricted)],
    ],
    replaces: seccomp,
  },
];

/** What all checks of a level have against a pod; nothing, if it may run there. */
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

/** The last release in which anything changed; what comes after it is the same. */
const NEWEST = Math.max(...[...BASELINE, ...RESTRICTED].flatMap(({ forms }) => forms.map(([minor]) => minor)));

const known = new Map<string, readonly Check[]>();

function checksOf({ level, version }: LevelVersion): readonly Check[] {
  if (level === 'privileged') return [];
  const minor = Math.min(minorOf(version), NEWEST);
  const key = `${level}:${minor}`;
  let checks = known.get(key);
  if (checks === undefined) {
    checks = chosen(level === 'baseline' ? [] : RESTRICTED, minor);
    known.set(key, checks);
  }
  return checks;
}

function chosen(added: readonly Rule[], minor: number): Check[] {
  const inForce = added.filter((rule) => formAt(rule, minor) !== undefined);
  const replaced = new Set(inForce.map(({ replaces }) => replaces));
  return [...BASELINE.filter((rule) => !replaced.has(rule)), ...inForce].flatMap((rule) => formAt(rule, minor) ?? []);
}

function formAt({ forms }: Rule, minor: number): Check | undefined {
  return forms.findLast(([first]) => first <= minor)?.[1];
}
