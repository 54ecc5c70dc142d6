/**
 * Runs processes in Linux namespaces: each container sees the files of this machine, or those of its image, through an
 * overlay that keeps its changes apart, with its volumes mounted; each pod has a network interface with its address on a
 * bridge. This requires root and gives no protection against malicious programs.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Volume } from '../../runtime/files/file-tree.js';
import type { ContainerSetup } from '../../runtime/index.js';
import { systemClock } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import { addNetwork } from './bridge.js';
import { readTerminationMessage, requireOwner, signalGroup } from './plain-host.js';
import type { PreparedProcess, ProcessHost } from './process-host.js';
import type { ProcessImageDefinition } from './process-images.js';
import { PodFolders, SharedFolders } from './volume-folders.js';

/**
 * Mounts the files of a container and starts its process. Arguments: the directory of the container, the lower directory of
 * the overlay, the hostname, `ro` or `rw` for the root, the working directory, and the arguments of `env`: the variables,
 * `chroot` and the command. The shell must not have the variables, because it drops those with unusual names. The file `mounts` of the directory has one line per mount: source, target and `ro` or `rw`, separated by tabs.
 */
const SCRIPT = `
set -e
dir=$1 lower=$2 name=$3 root_mode=$4 work=$5
shift 5
mount -t tmpfs -o mode=755 tmpfs "$dir/overlay"
mkdir "$dir/overlay/upper" "$dir/overlay/work" "$dir/overlay/root"
root=$dir/overlay/root
mount -t overlay overlay -o "lowerdir=$lower,upperdir=$dir/overlay/upper,workdir=$dir/overlay/work" "$root"
mkdir -p "$root/proc" "$root/dev" "$root/sys" "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
ln -s /proc/self/fd/0 "$root/dev/stdin"
ln -s /proc/self/fd/1 "$root/dev/stdout"
ln -s /proc/self/fd/2 "$root/dev/stderr"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while IFS='	' read -r source target mode; do
  if [ -d "$source" ]; then mkdir -p "$root$target"; else mkdir -p "$(dirname "$root$target")"; touch "$root$target"; fi
  mount --rbind "$source" "$root$target"
  if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root$target"; fi
done < "$dir/mounts"
echo "$name" > /proc/sys/kernel/hostname
mkdir -p "$root$work"
if [ "$root_mode" = ro ]; then mount -o remount,ro "$root"; fi
touch "$dir/ready"
exec env -i -- "$@"
`;

/** With their paths, because the variable PATH is that of the container. */
const NSENTER = '/usr/bin/nsenter';
const CHROOT = '/usr/sbin/chroot';
const ENV = '/usr/bin/env';
const SETPRIV = '/usr/bin/setpriv';

/** What containers may do unless they are privileged; the default of container runtimes. */
const CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'net_bind_service',
  'net_raw',
  'sys_chroot',
  'mknod',
  'audit_write',
  'setfcap',
];

/** `chroot` needs them to start the container; a container of another user than root loses them then. */
const START_CAPABILITIES = ['setgid', 'setuid', 'sys_chroot'];

/** All capabilities of Linux that `setpriv` of util-linux 2.38 knows; it rejects other names. */
const KNOWN_CAPABILITIES: ReadonlySet<string> = new Set([
  ...CAPABILITIES,
  ...'audit_control audit_read block_suspend bpf checkpoint_restore dac_read_search ipc_lock ipc_owner lease'.split(
    ' ',
  ),
  ...'linux_immutable mac_admin mac_override net_admin net_broadcast perfmon sys_admin sys_boot sys_module'.split(' '),
  ...'sys_nice sys_pacct sys_ptrace sys_rawio sys_resource sys_time sys_tty_config syslog wake_alarm'.split(' '),
]);

/**
 * The command that limits the capabilities of a container. Names have no prefix `CAP_`; a dropped one is not added, and an
 * unknown one is not there to be dropped.
 */
export function limitCapabilities({ securityContext }: Pick<ContainerSetup['container'], 'securityContext'>): string[] {
  if (securityContext?.privileged === true) return [];
  const read = (names: readonly string[] = []) => names.map((name) => name.toLowerCase().replace(/^cap_/, ''));
  const added = read(securityContext?.capabilities?.add);
  const dropped = read(securityContext?.capabilities?.drop).filter((name) => !START_CAPABILITIES.includes(name));
  const allowed = dropped.includes('all') ? START_CAPABILITIES : CAPABILITIES;
  const set =
    added.includes('all') && !dropped.includes('all')
      ? ['+all', ...dropped.filter((name) => KNOWN_CAPABILITIES.has(name)).map((name) => `-${name}`)]
      : [
          '-all',
          ...[...allowed, ...added].filter((name) => ![...dropped, 'all'].includes(name)).map((name) => `+${name}`),
        ];
  const escalates = securityContext?.allowPrivilegeEscalation !== false;
  return [SETPRIV, ...(escalates ? [] : ['--no-new-privs']), `--bounding-set=${set.join(',')}`];
}

/** `chroot` begins in the root directory. */
function inDirectory(work: string, command: readonly string[]): readonly string[] {
  return work === '/' ? command : ['/bin/sh', '-c', 'cd "$0" && exec "$@"', work, ...command];
}

/** Where `ip` keeps network namespaces. */
const NETWORKS = '/run/netns';

interface ContainerState {
  readonly directory: string;
  /** The process that waits for the first process of the container. */
  pid: number | undefined;
}

interface PodState {
  /** The network of its cluster. */
  readonly owner: ContainerSetup['network'];
  readonly folders: PodFolders;
  readonly network: Promise<string>;
  readonly containers: Map<string, ContainerState>;
  readonly detach: () => void;
}

export class NamespaceHost implements ProcessHost {
  readonly #pods = new Map<string, PodState>();
  readonly #shared = new SharedFolders();

  constructor() {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) {
      throw new Error("orchplane: processImages: the isolation 'namespaces' requires Linux and root");
    }
  }

  async prepare(
    setup: ContainerSetup,
    definition: ProcessImageDefinition,
    command: readonly string[],
  ): Promise<PreparedProcess> {
    const pod = this.#podOf(setup);
    const { container, exec } = setup;
    const work = targetIn(definition.root ?? '/', container.workingDir ?? definition.workingDir ?? '/');
    const env = { ...definition.env, ...setup.env };
    if (exec !== undefined) {
      const first = await readyProcessOf(pod.containers.get(container.name));
      const state = pod.containers.get(container.name);
      const enter = ['--target', String(first), '--mount', '--uts', '--ipc', '--net', '--pid', '--', ENV, '-i', '--'];
      return {
        command: [NSENTER, ...enter, ...insideOf(setup, env, { root: state?.directory ?? '', work, command })],
        env: { PATH: process.env['PATH'] ?? '' },
        signal: ({ pid }, name) => signalGroup(pid, name),
      };
    }
    const network = await pod.network;
    if (this.#pods.get(setup.pod.metadata.uid) !== pod) throw new Error('the pod is gone');
    const directory = join(pod.folders.root, `container-${container.name}-${pod.containers.size}-${setup.clock.now()}`);
    const state: ContainerState = { directory, pid: undefined };
    pod.containers.set(container.name, state);
    const log = this.#writeMounts(setup, definition, pod, directory);
    const rootMode = container.securityContext?.readOnlyRootFilesystem === true ? 'ro' : 'rw';
    const hostname = setup.pod.spec.hostname ?? setup.pod.metadata.name;
    const isolate = [
      'unshare',
      '--mount',
      '--uts',
      '--ipc',
      '--pid',
      '--fork',
      '--kill-child',
      '--propagation',
      'private',
    ];
    const script = ['/bin/sh', '-c', SCRIPT, 'sh', directory, definition.root ?? '/', hostname.slice(0, 63), rootMode];
    return {
      command: [
        ...(network === '' ? [] : [NSENTER, `--net=${join(NETWORKS, network)}`]),
        ...isolate,
        ...script,
        work,
        ...insideOf(setup, env, { root: directory, work, command }),
      ],
      env: { PATH: process.env['PATH'] ?? '' },
      created: (pid) => {
        state.pid = pid;
        return readyProcessOf(state).then(() => undefined);
      },
      signal: ({ pid }, name) => signalFirst(pid, name),
      ended: () => {
        // Its number may belong to another process now.
        state.pid = undefined;
        readTerminationMessage(setup, log);
      },
    };
  }

  release(podUid: string, network: ContainerSetup['network']): void {
    const pod = this.#pods.get(podUid);
    if (pod?.owner !== network) return;
    this.#pods.delete(podUid);
    pod.detach();
    for (const { pid } of pod.containers.values()) signalGroup(pid, 'SIGKILL');
    pod.folders.remove();
    const remove = (): void => removeNetwork(networkName(podUid));
    remove();
    // It may be in the making.
    pod.network.then(remove, remove);
  }

  removeVolumes(volumes: Iterable<Volume>): void {
    this.#shared.remove(volumes);
  }

  #podOf(setup: ContainerSetup): PodState {
    const { uid, name, namespace = '' } = setup.pod.metadata;
    const known = this.#pods.get(uid);
    if (known !== undefined) return requireOwner(known, setup);
    const { podIP = '' } = setup.pod.status;
    const created: PodState = {
      owner: setup.network,
      folders: new PodFolders(setup, this.#shared),
      network:
        setup.pod.spec.hostNetwork === true
          ? Promise.resolve('')
          : addNetwork(networkName(uid), podIP).then(() => networkName(uid)),
      containers: new Map(),
      detach: setup.network.attach({ namespace, podName: name }, podIP),
    };
    this.#pods.set(uid, created);
    return created;
  }

  /** Writes the list of mounts. Returns the directory with the termination message. */
  #writeMounts(
    { files, container }: ContainerSetup,
    { programs = {}, root = '/' }: ProcessImageDefinition,
    { folders }: PodState,
    directory: string,
  ): string {
    const own = join(directory, 'files');
    mkdirSync(join(directory, 'overlay'), { recursive: true });
    const { terminationMessagePath = '/dev/termination-log' } = container;
    const lines: string[] = [];
    for (const [path, { bytes }] of files.root.entries()) {
      const file = join(own, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, bytes);
      chmodSync(file, `/${path}` === terminationMessagePath ? 0o666 : 0o644);
      lines.push(`${file}\t${targetIn(root, `/${path}`)}\trw`);
    }
    for (const [path, file] of Object.entries(programs)) lines.push(`${file}\t${targetIn(root, path)}\tro`);
    // The shortest paths first, because a volume may be mounted inside of another one.
    for (const mount of [...files.mounts].reverse()) {
      lines.push(
        `${folders.sourceOf(mount)}\t${targetIn(root, mount.mountPath)}\t${mount.readOnly || mount.volume.write === undefined ? 'ro' : 'rw'}`,
      );
    }
    writeFileSync(join(directory, 'mounts'), `${lines.join('\n')}\n`);
    return own;
  }
}

/** The path with its symbolic links resolved, as a process whose root is this directory sees them. */
function targetIn(root: string, path: string): string {
  let resolved = '/';
  const rest = path.split('/').filter((part) => part !== '');
  for (let links = 0; rest.length > 0; ) {
    const part = rest.shift() ?? '';
    const next = normalize(join(resolved, part));
    const link = lstatSync(join(root, next), { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (!link || ++links > MAX_LINKS) {
      resolved = next;
      continue;
    }
    const target = readlinkSync(join(root, next));
    if (target.startsWith('/')) resolved = '/';
    rest.unshift(...target.split('/').filter((each) => each !== ''));
  }
  return resolved;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** Names of interfaces have at most 15 characters. */
function networkName(podUid: string): string {
  return `orch${podUid.replaceAll('-', '').slice(0, 11)}`;
}

/** Synchronous, so that nothing is left when the cluster is closed. Its interface goes with the namespace. */
function removeNetwork(name: string): void {
  if (!existsSync(join(NETWORKS, name))) return;
  try {
    execFileSync('ip', ['netns', 'del', name], { stdio: 'pipe' });
  } catch (error) {
    console.error(`orchplane: the network ${name} is left: ${messageOf(error)}`);
  }
}

/** How long the first process may take to start. */
const START_TIMEOUT_MS = 10_000;
const POLL_MS = 5;

/** The first process of a container when its files are mounted. */
async function readyProcessOf(state: ContainerState | undefined): Promise<number> {
  const deadline = systemClock.now() + START_TIMEOUT_MS;
  while (state !== undefined && !existsSync(join(state.directory, 'ready'))) {
    if (systemClock.now() > deadline) throw new Error('the container has not started');
    await new Promise<void>((resolve) => systemClock.after(POLL_MS, resolve));
  }
  return firstProcessOf(state?.pid);
}

/** The process that acts as the first one of the container: the child of `unshare`. */
function firstProcessOf(pid: number | undefined): number {
  const children = pid === undefined ? '' : readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const [first = ''] = children.trim().split(' ');
  if (first === '') throw new Error('the container has ended');
  return Number(first);
}

function signalFirst(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(firstProcessOf(pid), signal);
  } catch {
    // `unshare` has no child yet, or the container has ended.
    signalGroup(pid, signal);
  }
}

/** The arguments of `env` that start a command in the root directory of a container, with its user and capabilities. */
function insideOf(
  setup: ContainerSetup,
  env: Readonly<Record<string, string>>,
  { root, work, command }: { readonly root: string; readonly work: string; readonly command: readonly string[] },
): readonly string[] {
  const { uid, gid, groups } = userOf(setup);
  return [
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ...limitCapabilities(setup.container),
    CHROOT,
    `--userspec=${uid}:${gid}`,
    `--groups=${groups.join(',')}`,
    join(root, 'overlay', 'root'),
    ...inDirectory(work, command),
  ];
}

function userOf({ pod, container }: ContainerSetup) {
  const { runAsUser = 0, runAsGroup, supplementalGroups = [], fsGroup } = pod.spec.securityContext ?? {};
  const own = container.securityContext ?? {};
  const uid = own.runAsUser ?? runAsUser;
  const gid = own.runAsGroup ?? runAsGroup ?? 0;
  return { uid, gid, groups: [...supplementalGroups, ...(fsGroup === undefined ? [] : [fsGroup])] };
}
