/**
 * Warnings about valid pod specs, of pods and pod templates: deprecated fields and labels, duplicates, fractional bytes.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, keyPath } from '../../../../meta/field-error.js';
import { ipWarnings } from '../../../../meta/ip.js';
import { labelValueProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import { quote } from '../../../../text/go/go-text.js';
import { own } from '../../../../util/json.js';
import { getOrInsertComputed } from '../../../../util/once.js';
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  NodeSelectorTerm,
  PodSpec,
} from '../../../generated/core-v1.js';
import { labelDeprecation } from '../../../shared/deprecated-node-labels.js';
import { repeatedIndexes } from '../../../shared/field-rules.js';
import { type Annotations, appArmorPrefix, seccompKeys } from './annotations.js';
import { type ContainerWithPath, containersWithPaths } from './defaults.js';
import { volumesWarnings } from './volume-warnings.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Warnings about a pod spec. `path` is empty for a pod, and the path of the template otherwise. */
export function podSpecWarnings(
  path: string,
  spec: PodSpec,
  { annotations, dialect }: { readonly annotations: Annotations; readonly dialect: Dialect },
): string[] {
  const at = childPath(path, 'spec');
  const isTemplate = path !== '';
  const containers = containersWithPaths(at, spec);
  const { hostAliases = [], imagePullSecrets = [], dnsConfig, terminationGracePeriodSeconds: grace } = spec;
  const { nodes, affinity } = schedulingWarnings(at, spec, dialect);
  const seccomp = seccompKeys(dialect);
  const annotationsAt = childPath(path, 'metadata.annotations');
  const aliasesAt = childPath(at, 'hostAliases');
  const secretsAt = childPath(at, 'imagePullSecrets');
  return [
    ...nodes,
    ...annotationWarnings(annotationsAt, annotations, dialect),
    ...volumesWarnings(childPath(at, 'volumes'), spec.volumes),
    ...repeats(hostAliases.map(({ ip }) => ip)).map(
      ([ip, index]) => `${childPath(keyPath(aliasesAt, index), 'ip')}: duplicate ip ${quote(ip)}`,
    ),
    ...repeats(imagePullSecrets.map(({ name = '' }) => name)).map(
      ([name, index]) => `${childPath(keyPath(secretsAt, index), 'name')}: duplicate name ${quote(name)}`,
    ),
    ...imagePullSecrets.flatMap(({ name = '' }, index) =>
      name === '' ? [`${childPath(keyPath(secretsAt, index), 'name')}: invalid empty name ""`] : [],
    ),
    ...fractionWarnings(childPath(at, 'overhead'), spec.overhead, 'memory'),
    ...fractionWarnings(childPath(at, 'overhead'), spec.overhead, 'ephemeral-storage'),
    ...seccompWarnings(annotationsAt, spec.securityContext, { annotations, key: seccomp.pod }),
    ...containers.flatMap(({ path: containerPath, container }) => [
      ...seccompWarnings(annotationsAt, container.securityContext, {
        annotations,
        key: seccomp.prefix + container.name,
      }),
      // For pods, these warnings are returned when the fields are set from the annotations; see pod/strategy.ts.
      ...(isTemplate && spec.securityContext.appArmorProfile === undefined
        ? appArmorWarnings(annotationsAt, container, { annotations, key: appArmorPrefix(dialect) + container.name })
        : []),
      ...amountWarnings(childPath(containerPath, 'resources'), container),
      ...envWarnings(childPath(containerPath, 'env'), container),
    ]),
    ...portWarnings(containers),
    ...portNameWarnings(containers),
    ...(grace < 0
      ? [
          `${childPath(at, 'terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
        ]
      : []),
    ...affinity,
    ...(dnsConfig?.nameservers ?? []).flatMap((ip, index) =>
      ipWarnings(keyPath(childPath(at, 'dnsConfig.nameservers'), index), ip),
    ),
    ...hostAliases.flatMap(({ ip }, index) => ipWarnings(childPath(keyPath(aliasesAt, index), 'ip'), ip)),
  ];
}

/** The second and later occurrences of texts, with their indexes. */
function repeats(texts: readonly string[]): [text: string, index: number][] {
  return [...repeatedIndexes(texts)].map((index) => [texts[index] ?? '', index]);
}

function annotationWarnings(path: string, annotations: Annotations, dialect: Dialect): string[] {
  const sysctls = 'non-functional in v1.11+; use the "sysctls" field instead';
  const dead: [key: string, warning: string][] = [
    [
      dialect.subkey('scheduler.alpha', 'critical-pod'),
      'non-functional in v1.16+; use the "priorityClassName" field instead',
    ],
    [dialect.subkey('security.alpha', 'sysctls'), sysctls],
    [dialect.subkey('security.alpha', 'unsafe-sysctls'), sysctls],
  ];
  return dead.flatMap(([key, warning]) =>
    Object.hasOwn(annotations, key) ? [`${keyPath(path, key)}: ${warning}`] : [],
  );
}

/** Seccomp annotations have no effect; they are ignored without a warning if the field is set. */
function seccompWarnings(
  path: string,
  context: { readonly seccompProfile?: unknown } | undefined,
  { annotations, key }: { readonly annotations: Annotations; readonly key: string },
): string[] {
  if (context?.seccompProfile !== undefined || !Object.hasOwn(annotations, key)) return [];
  return [`${keyPath(path, key)}: non-functional in v1.27+; use the "seccompProfile" field instead`];
}

/** AppArmor annotations are deprecated in favour of the field. */
function appArmorWarnings(
  path: string,
  { securityContext }: Container | EphemeralContainer,
  { annotations, key }: { readonly annotations: Annotations; readonly key: string },
): string[] {
  if (securityContext?.appArmorProfile !== undefined || !Object.hasOwn(annotations, key)) return [];
  return [appArmorWarning(path, key)];
}

/** The warning about one AppArmor annotation. `path` is the path of the annotations. */
export function appArmorWarning(path: string, key: string): string {
  return `${keyPath(path, key)}: deprecated since v1.30; use the "appArmorProfile" field instead`;
}

/** Warns about fractional numbers of bytes. */
function amountWarnings(path: string, { resources }: Container | EphemeralContainer): string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) =>
    (['limits', 'requests'] as const).flatMap((list) => fractionWarnings(childPath(path, list), resources[list], name)),
  );
}

function fractionWarnings(path: string, amounts: Readonly<Record<string, string>> = {}, name: string): string[] {
  const amount = own(amounts, name);
  if (amount === undefined || Quantity.parse(amount).milliValue() % 1000n === 0n) return [];
  return [`${keyPath(path, name)}: fractional byte value ${quote(amount)} is invalid, must be an integer`];
}

/** Warns about duplicate variables, unless the later one refers to the earlier one by `$(NAME)`. */
function envWarnings(path: string, { env = [] }: Container | EphemeralContainer): string[] {
  return repeats(env.map(({ name }) => name)).flatMap(([name, index]) => {
    const { value = '', valueFrom } = env[index] ?? {};
    const earlier = `$(${name})`;
    if (valueFrom === undefined && value !== earlier && value.includes(earlier)) return [];
    const what = `hides previous definition of ${quote(name)}, which may be dropped when using apply`;
    return [`${keyPath(path, index)}: ${what}`];
  });
}

/** Clients get 4,096 characters of warnings at most. The number of clashes grows with the square of that of equal ports. */
const MAX_PORT_WARNINGS = 1_000;

function portWarnings(containers: readonly ContainerWithPath[]): string[] {
  const seen = new Map<string, PlacedPort[]>();
  const warnings: string[] = [];
  let order = 0;
  for (const { path: containerPath, container } of containers) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      const placed = { port, where: keyPath(childPath(containerPath, 'ports'), index), order: order++ };
      if (port.hostIP !== undefined && (port.hostPort ?? 0) === 0) {
        warnings.push(`${placed.where}: hostIP set without hostPort: ${goValueOfPort(port)}`);
      }
      const room = Math.max(0, MAX_PORT_WARNINGS - warnings.length);
      const { ownKeys, clashingKeys } = portKeys(port);
      const others = clashingKeys.flatMap((key) => (seen.get(key) ?? []).slice(0, room));
      others.sort((one, other) => one.order - other.order);
      for (const other of others.slice(0, room)) {
        warnings.push(`${placed.where}: ${portClash(port, other.port)} port definition with ${other.where}`);
      }
      for (const key of ownKeys) getOrInsertComputed(seen, key, () => []).push(placed);
    }
  }
  return warnings;
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly where: string;
  readonly order: number;
}

/**
 * The keys under which a port is found, and the keys of the ports that it clashes with: those with the same number and
 * protocol, unless both have host ports that differ, or the same host port on different addresses.
 */
function portKeys({ containerPort, protocol, hostPort = 0, hostIP = '' }: ContainerPort) {
  const key = (host: string): string => `${containerPort}/${protocol}/${host}`;
  const [every, sameHostPort, same] = [key(''), key(`${hostPort}`), key(`${hostPort}/${hostIP}`)];
  const elsewhere = hostIP === '' ? [sameHostPort] : [same, key(`${hostPort}/`)];
  return {
    ownKeys: [every, sameHostPort, same],
    clashingKeys: hostPort === 0 ? [every] : [...elsewhere, key('0')],
  };
}

/** Warns about duplicate port names, of which lookups find only the first. */
function portNameWarnings(containers: readonly ContainerWithPath[]): string[] {
  const seen = new Map<string, string>();
  return containers.flatMap(({ path: containerPath, container }) =>
    (container.ports ?? []).flatMap(({ name = '' }, index) => {
      if (name === '') return [];
      const where = keyPath(childPath(containerPath, 'ports'), index);
      const first = seen.get(name);
      if (first === undefined) seen.set(name, where);
      if (first === undefined) return [];
      const what = `duplicate port name ${quote(name)} with ${first}`;
      return [`${where}: ${what}, services and probes that select ports by name will use ${first}`];
    }),
  );
}

/** Prints a port as Go's `%+v`. */
function goValueOfPort({ name = '', containerPort, protocol, hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}

/** How two ports clash. */
function portClash(port: ContainerPort, other: ContainerPort): string {
  const [hostPort, otherPort] = [port.hostPort ?? 0, other.hostPort ?? 0];
  if (hostPort === otherPort && (port.hostIP ?? '') === (other.hostIP ?? '')) return 'duplicate';
  return hostPort === 0 || otherPort === 0 ? 'overlapping' : 'dangerously ambiguous';
}

/**
 * Warnings about node labels, topology spread and affinity of the spec at `at`. The two lists are separate because the
 * reference server reports other warnings between them.
 */
function schedulingWarnings(
  at: string,
  spec: PodSpec,
  dialect: Dialect,
): { readonly nodes: string[]; readonly affinity: string[] } {
  const { nodeSelector = {}, affinity, topologySpreadConstraints = [] } = spec;
  // The message contains the label, because the path does not end in it.
  const labelWarnings = (where: string, label: string) => {
    const deprecation = labelDeprecation(label, dialect);
    return deprecation === undefined ? [] : [`${where}: ${label} is ${deprecation}`];
  };
  const expressionsOf = (where: string, { matchExpressions = [] }: NodeSelectorTerm) =>
    matchExpressions.map(({ key, values = [] }, index) => {
      const expression = keyPath(childPath(where, 'matchExpressions'), index);
      return { expression, values, warnings: labelWarnings(childPath(expression, 'key'), key) };
    });
  const { [REQUIRED]: required, [PREFERRED]: preferred = [] } = affinity?.nodeAffinity ?? {};
  const nodeAt = childPath(at, 'affinity.nodeAffinity');
  const spreadAt = (index: number, field: string) =>
    childPath(keyPath(childPath(at, 'topologySpreadConstraints'), index), field);
  return {
    nodes: [
      ...Object.keys(nodeSelector).flatMap((key) => {
        const deprecation = labelDeprecation(key, dialect);
        return deprecation === undefined ? [] : [`${keyPath(childPath(at, 'nodeSelector'), key)}: ${deprecation}`];
      }),
      ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
        expressionsOf(keyPath(childPath(nodeAt, `${REQUIRED}.nodeSelectorTerms`), index), term).flatMap(
          ({ warnings }) => warnings,
        ),
      ),
      // Invalid label values are errors in required terms and warnings in preferred terms.
      ...preferred.flatMap(({ preference }, index) =>
        expressionsOf(childPath(keyPath(childPath(nodeAt, PREFERRED), index), 'preference'), preference).flatMap(
          ({ expression, values, warnings }) => [
            ...warnings,
            ...valueWarnings(childPath(expression, 'values'), values),
          ],
        ),
      ),
      ...topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => [
        ...labelWarnings(spreadAt(index, 'topologyKey'), topologyKey),
        ...(labelSelector === undefined ? [nullSelectorWarning(spreadAt(index, 'labelSelector'))] : []),
      ]),
    ],
    affinity: podAffinityWarnings(childPath(at, 'affinity'), affinity),
  };
}

function valueWarnings(path: string, values: readonly string[]): string[] {
  return values.flatMap((value, index) =>
    labelValueProblems(value).map((problem) => `${keyPath(path, index)}: ${value} is invalid, ${problem}`),
  );
}

function podAffinityWarnings(at: string, affinity: PodSpec['affinity']): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((field) => {
    const { [REQUIRED]: terms = [], [PREFERRED]: weighted = [] } = affinity?.[field] ?? {};
    const path = childPath(at, field);
    return [
      ...terms.flatMap(({ labelSelector }, index) =>
        labelSelector === undefined
          ? [nullSelectorWarning(childPath(keyPath(childPath(path, REQUIRED), index), 'labelSelector'))]
          : [],
      ),
      ...weighted.flatMap(({ podAffinityTerm }, index) =>
        podAffinityTerm.labelSelector === undefined
          ? [
              nullSelectorWarning(
                childPath(keyPath(childPath(path, PREFERRED), index), 'podAffinityTerm.labelSelector'),
              ),
            ]
          : [],
      ),
    ];
  });
}

function nullSelectorWarning(where: string): string {
  return `${where}: a null labelSelector results in matching no pod`;
}
