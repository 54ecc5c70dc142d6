/**
 * The contract between process images and the ways to run a process.
 */
import type { ChildProcess } from 'node:child_process';
import type { Volume } from '../../runtime/files/file-tree.js';
import type { ContainerSetup } from '../../runtime/index.js';
import type { ProcessImageDefinition } from './process-images.js';

export interface ProcessHost {
  /** Sets up files and network, and returns what to start. */
  prepare(
    setup: ContainerSetup,
    definition: ProcessImageDefinition,
    command: readonly string[],
  ): Promise<PreparedProcess>;
  /** Removes everything that belongs to a pod of a network. */
  release(podUid: string, network: ContainerSetup['network']): void;
  /** Removes volumes that outlive pods. */
  removeVolumes(volumes: Iterable<Volume>): void;
}

export interface PreparedProcess {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Called when the process has been created. Resolves when it runs. */
  readonly created?: ((pid: number | undefined) => Promise<void>) | undefined;
  readonly signal: (child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') => void;
  /** Called when the process has ended. */
  readonly ended?: (() => void) | undefined;
}
