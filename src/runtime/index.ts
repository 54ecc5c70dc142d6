/**
 * Entry point of `orchplane/runtime`: a kubelet that runs pods as JavaScript functions, a scheduler and the cluster network.
 */
export { FileTree } from './files/file-tree.js';
export type { RequestInfo } from './network/types.js';
export type {
  ContainerSetup,
  Image,
  Output,
  ProcessExit,
  ProcessImage,
  Program,
  ProgramContainer,
  ProgramImage,
  RunningProcess,
  Usage,
} from './program.js';
export { type RunningPod, type RuntimeOptions, runtime } from './runtime.js';
export { type SchedulerOptions, scheduler } from './scheduler/index.js';
