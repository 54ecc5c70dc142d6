/**
 * The files that every container has of its own, and the message that it leaves in one of them.
 * upstream: pkg/kubelet/kuberuntime/kuberuntime_container.go getTerminationMessage
 */
import { type FileTree, type MemoryVolume, normalize } from '../files/file-tree.js';
import type { ContainerSpec } from '../program.js';
import type { ContainerLog } from './container-log.js';
import { checkedPath } from './expansion.js';
import type { PodEnvironment } from './pod-environment.js';

const MESSAGE_PATH = '/dev/termination-log';
const MESSAGE_BYTES = 4_096;
const LOG_LINES = 80;
const LOG_BYTES = 2_048;

/** Writes the first files into the root directory of a container. */
export function fillRoot(
  root: MemoryVolume,
  pod: PodEnvironment,
  { terminationMessagePath = MESSAGE_PATH }: ContainerSpec,
): void {
  const put = (path: string, bytes: Uint8Array) =>
    root.write(normalize(path).slice(1), { bytes, mode: 0o644, isCounted: false });
  for (const [path, bytes] of Object.entries(pod.systemFiles())) put(path, bytes);
  put(checkedPath(terminationMessagePath), new Uint8Array());
}

interface ContainerEnd {
  readonly files: FileTree;
  readonly log: ContainerLog | undefined;
  readonly exitCode: number;
}

/** What the container wrote about its end, or the end of its log; empty if there is nothing. */
export function terminationMessage(spec: ContainerSpec, { files, log, exitCode }: ContainerEnd): string {
  const { terminationMessagePath = MESSAGE_PATH, terminationMessagePolicy } = spec;
  const isFile = files.exists(terminationMessagePath) && !files.isDirectory(terminationMessagePath);
  const written = isFile ? files.read(terminationMessagePath, 0, MESSAGE_BYTES) : new Uint8Array();
  if (written.length > 0) return new TextDecoder().decode(written);
  if (terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0) return '';
  return log?.tail(LOG_LINES, LOG_BYTES) ?? '';
}
