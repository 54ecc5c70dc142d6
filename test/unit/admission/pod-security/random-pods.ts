/**
 * Random but reproducible pods, namespaces and requests. The recorded results of the reference implementation are
 * stored in this folder. Names are those of the `kubernetes` dialect.
 */

/** Random numbers in [0, 1) from a seed (mulberry32). fast-check's generator may change between its releases. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = numbersFrom(seed);
  }

  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  chance(share: number): boolean {
    return this.#next() < share;
  }

  one<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  some<Item>(items: readonly Item[], share: number): Item[] {
    return items.filter(() => this.chance(share));
  }

  /** A random subset of the fields, each included with its own probability. */
  fields(parts: Readonly<Record<string, readonly [share: number, value: () => unknown]>>): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(parts).flatMap(([key, [share, value]]) => (this.chance(share) ? [[key, value()]] : [])),
    );
  }
}

const CAPABILITIES = ['ALL', 'NET_BIND_SERVICE', 'CHOWN', 'SYS_ADMIN', 'NET_RAW', 'KILL', 'chown', 'ä'];
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'kernel.msgmax',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
  'net.core.somaxconn',
];
const PROFILES = ['RuntimeDefault', 'Localhost', 'Unconfined', ''];
const SELINUX = ['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t', 'spc_t', ''];
const SOURCES = [
  'configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret',
  'hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder cephfs flocker fc',
  'azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO storageos',
].flatMap((line) => line.split(' '));
const NOTES = ['runtime/default', 'docker/default', 'localhost/x', 'unconfined', '', 'a"b', 'localhost'];

/** How privileged a pod is; most pods must be harmless to cover accepted requests. */
function context(dice: Dice, boldness: number, isPod: boolean): Record<string, unknown> {
  const share = boldness;
  const profile = () => ({ type: dice.chance(0.7) ? dice.one(PROFILES.slice(0, 2)) : dice.one(PROFILES) });
  return dice.fields({
    runAsNonRoot: [0.6, () => !dice.chance(share)],
    runAsUser: [0.3, () => (dice.chance(share) ? 0 : 1000)],
    seLinuxOptions: [
      share,
      () =>
        dice.fields({
          type: [0.7, () => dice.one(SELINUX)],
          user: [0.2, () => dice.one(['u', ''])],
          role: [0.2, () => dice.one(['r', ''])],
        }),
    ],
    seccompProfile: [0.6, profile],
    appArmorProfile: [0.3, profile],
    windowsOptions: [share, () => dice.fields({ hostProcess: [0.6, () => dice.chance(0.6)] })],
    ...(isPod
      ? { sysctls: [share, () => dice.some(SYSCTLS, 0.3).map((name) => ({ name, value: '1' }))] }
      : {
          allowPrivilegeEscalation: [0.7, () => dice.chance(share)],
          privileged: [0.4, () => dice.chance(share)],
          procMount: [share, () => dice.one(['Default', 'Unmasked', 'Other'])],
          capabilities: [
            0.7,
            () =>
              dice.fields({
                add: [share, () => dice.some(CAPABILITIES, 0.3)],
                drop: [0.8, () => (dice.chance(0.7) ? ['ALL'] : dice.some(CAPABILITIES, 0.3))],
              }),
          ],
        }),
  });
}

function container(dice: Dice, boldness: number, name: string): Record<string, unknown> {
  return {
    name,
    image: dice.one(['a:1', 'b:1']),
    ...dice.fields({
      securityContext: [0.8, () => context(dice, boldness, false)],
      ports: [
        boldness,
        () =>
          [0, 1].map(() => ({
            containerPort: 80,
            ...dice.fields({ hostPort: [0.6, () => dice.one([0, 80, 8080, 9])] }),
          })),
      ],
    }),
  };
}

function volume(dice: Dice, boldness: number, name: string): Record<string, unknown> {
  if (!dice.chance(boldness)) return { name, emptyDir: {} };
  return { name, ...Object.fromEntries(dice.some(SOURCES, 0.06).map((source) => [source, {}])) };
}

export interface RandomPod {
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

function pod(dice: Dice): RandomPod {
  const boldness = dice.one([0, 0.15, 0.15, 0.4, 0.7]);
  const containers = (prefix: string, most: number) =>
    Array.from({ length: dice.below(most + 1) }, (_, index) => container(dice, boldness, `${prefix}${index}`));
  const names = ['i0', 'c0', 'c1', 'e0', 'x'];
  const annotations = dice.fields({
    'seccomp.security.alpha.kubernetes.io/pod': [boldness, () => dice.one(NOTES)],
    ...Object.fromEntries(
      names.flatMap((name) =>
        ['apparmor.security.beta', 'seccomp.security.alpha'].map((kind) => [
          `container.${kind}.kubernetes.io/${name}`,
          [boldness / 3, () => dice.one(NOTES)],
        ]),
      ),
    ),
  }) as Record<string, string>;
  const spec = {
    containers: [container(dice, boldness, 'c0'), ...containers('d', 2)],
    ...dice.fields({
      initContainers: [0.4, () => containers('i', 2)],
      ephemeralContainers: [0.2, () => containers('e', 2)],
      volumes: [0.5, () => ['v', 'w', 'x'].slice(dice.below(3)).map((name) => volume(dice, boldness, name))],
      securityContext: [0.8, () => context(dice, boldness, true)],
      hostNetwork: [boldness / 2, () => dice.chance(0.7)],
      hostPID: [boldness / 2, () => dice.chance(0.7)],
      hostIPC: [boldness / 2, () => dice.chance(0.7)],
      hostUsers: [0.2, () => dice.chance(0.4)],
      os: [0.2, () => ({ name: dice.one(['windows', 'linux']) })],
      runtimeClassName: [0.15, () => dice.one(['free', 'gvisor'])],
    }),
  };
  return { annotations, spec };
}

export function randomPods(seed: number, count: number): RandomPod[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => pod(dice));
}

export type Labels = Readonly<Record<string, string>>;

function labels(dice: Dice, mistakes: number): Labels {
  const level = () =>
    dice.chance(mistakes) ? dice.one(['strict', '', 'Baseline']) : dice.one(['privileged', 'baseline', 'restricted']);
  const version = () =>
    dice.chance(mistakes)
      ? dice.one(['v1', '1.20', 'v1.05', 'v2.0', 'v1.99999999999999999999', ''])
      : dice.one(['latest', 'v1.0', 'v1.18', 'v1.24', 'v1.25', 'v1.33', 'v1.99']);
  const parts = ['enforce', 'audit', 'warn'].flatMap((mode) => [
    [`pod-security.kubernetes.io/${mode}`, [0.5, level]],
    [`pod-security.kubernetes.io/${mode}-version`, [0.35, version]],
  ]);
  return dice.fields(Object.fromEntries(parts)) as Labels;
}

/** A request to the plugin, with the content of the namespace. */
export interface RandomRequest {
  readonly resource: string;
  readonly operation: 'CREATE' | 'UPDATE';
  readonly subresource: string;
  readonly namespace: string;
  readonly user: string;
  /** The labels of the namespace; in a request for the namespace itself, the new labels. */
  readonly labels: Labels;
  /** The old labels, in a request for the namespace itself. */
  readonly oldLabels: Labels;
  readonly pod: RandomPod;
  readonly oldPod: RandomPod;
  /** The existing pods by name. */
  readonly pods: Readonly<Record<string, RandomPod>>;
  /** Whether the plugin runs with {@link EXEMPTIONS} and defaults. */
  readonly isConfigured: boolean;
}

export const EXEMPTIONS = { usernames: ['root'], namespaces: ['kube-system'], runtimeClasses: ['free'] };
export const DEFAULTS = {
  enforce: 'privileged',
  enforceVersion: 'latest',
  audit: 'baseline',
  auditVersion: 'v1.24',
  warn: 'restricted',
  warnVersion: 'latest',
} as const;

const RESOURCES = [
  'pods',
  'pods',
  'pods',
  'pods',
  'namespaces',
  'namespaces',
  'deployments',
  'cronjobs',
  'podtemplates',
];

function request(dice: Dice): RandomRequest {
  const resource = dice.one([...RESOURCES, 'replicationcontrollers']);
  const base = pod(dice);
  const below =
    resource === 'pods' ? ['', '', '', 'ephemeralcontainers', 'resize', 'status', 'binding'] : ['', '', 'status'];
  const names = ['b', 'a', 'd', 'c'].slice(dice.below(5));
  const mistakes = dice.one([0, 0, 0.3]);
  return {
    resource,
    operation: dice.one(['CREATE', 'UPDATE'] as const),
    subresource: dice.one(below),
    namespace: dice.one(['ns', 'ns', 'ns', 'kube-system', 'gone']),
    user: dice.one(['alice', 'alice', 'root']),
    labels: labels(dice, mistakes),
    oldLabels: labels(dice, mistakes),
    pod: base,
    oldPod: dice.chance(0.5) ? base : pod(dice),
    pods: Object.fromEntries(names.map((name) => [name, dice.chance(0.3) ? base : pod(dice)])),
    isConfigured: dice.chance(0.4),
  };
}

export function randomRequests(seed: number, count: number): RandomRequest[] {
  const dice = new Dice(seed);
  return Array.from({ length: count }, () => request(dice));
}
