/**
 * All commands, in the order in which help lists them.
 */
import type { Command } from '../command.js';
import { apply } from './apply.js';
import { auth } from './auth.js';
import { apiResources, apiVersions, config, events, version } from './cluster-info.js';
import { create } from './create.js';
import { deleteCommand } from './delete.js';
import { describe } from './describe.js';
import { exec } from './exec.js';
import { explain } from './explain.js';
import { autoscale, expose } from './expose.js';
import { get } from './get.js';
import { logs } from './logs.js';
import { rollout } from './rollout.js';
import { run } from './run.js';
import { top } from './top.js';
import { wait } from './wait.js';
import { annotate, edit, label, patch, scale, set } from './write.js';

export const commands: readonly Command[] = [
  get,
  describe,
  explain,
  events,
  logs,
  exec,
  top,
  apply,
  create,
  run,
  expose,
  autoscale,
  edit,
  patch,
  label,
  annotate,
  scale,
  set,
  rollout,
  wait,
  deleteCommand,
  auth,
  apiResources,
  apiVersions,
  config,
  version,
];
