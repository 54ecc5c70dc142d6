/**
 * Entry point of `orchplane/runtime`: a kubelet that runs pods as JavaScript functions, a scheduler and the cluster network.
 */
export type {
  PodExecOptions,
  PodExecResult,
  PodLog,
  PodLogOptions,
  Sockets,
} from '../protocol/connection.js';
export { builtInCommands } from './commands.js';
export { FileTree } from './files/file-tree.js';
export type { NetworkOptions } from './network/network.js';
export type { ClusterNetwork, RequestInfo } from './network/types.js';
export type {
  ContainerSetup,
  ContainerSpec,
  Image,
  Output,
  ProcessExit,
  ProcessImage,
  Program,
  ProgramContainer,
  ProgramImage,
  ProgramResult,
  RunningProcess,
  Usage,
} from './program.js';
export { type RunningPod, type RuntimeOptions, runtime } from './runtime.js';
export { type SchedulerOptions, scheduler } from './scheduler/index.js';
