/**
 * The health of an object as a short text and a colour, derived from its status.
 */
import type { ApiObject } from 'orchplane';
import { isMap, valueAt } from '../yaml/paths.js';

export interface Health {
  readonly tone: 'good' | 'warn' | 'bad' | 'quiet';
  readonly text: string;
  /** The progress, where it can be counted. */
  readonly progress?: { readonly done: number; readonly of: number };
}

const REPLICATED = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'ReplicationController']);

export function healthOf(object: ApiObject): Health | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return { tone: 'warn', text: 'being deleted' };
  if (object.kind === 'Pod') return podHealth(object);
  const number = (path: string): number => Number(valueAt(object, path) ?? 0);
  if (REPLICATED.has(object.kind)) return counted(number('status.readyReplicas'), number('spec.replicas'), 'ready');
  if (object.kind === 'DaemonSet') {
    return counted(number('status.numberReady'), number('status.desiredNumberScheduled'), 'ready');
  }
  if (object.kind === 'Job')
    return counted(number('status.succeeded'), Number(valueAt(object, 'spec.completions') ?? 1), 'done');
  const phase = valueAt(object, 'status.phase');
  if (typeof phase === 'string') return { tone: /Active|Bound|Available/.test(phase) ? 'good' : 'warn', text: phase };
  return undefined;
}

function counted(done: number, of: number, word: string): Health {
  const tone = of === 0 ? 'quiet' : done >= of ? 'good' : 'warn';
  return { tone, text: `${done} of ${of} ${word}`, progress: { done: Math.min(done, of), of } };
}

function podHealth(pod: ApiObject): Health {
  const statuses = valueAt(pod, 'status.containerStatuses');
  for (const status of Array.isArray(statuses) ? statuses : []) {
    const reason = valueAt(status, 'state.waiting.reason');
    if (reason === 'CrashLoopBackOff' || (typeof reason === 'string' && /Err|Fail/.test(reason))) {
      return { tone: 'bad', text: reason };
    }
    if (typeof reason === 'string') return { tone: 'warn', text: reason };
  }
  const phase = String(valueAt(pod, 'status.phase') ?? 'Pending');
  const conditions = valueAt(pod, 'status.conditions');
  const ready = (Array.isArray(conditions) ? conditions : []).find(
    (each: unknown) => isMap(each) && each['type'] === 'Ready',
  );
  if (phase === 'Running' && isMap(ready) && ready['status'] !== 'True') return { tone: 'warn', text: 'not ready' };
  const tone = phase === 'Failed' ? 'bad' : phase === 'Pending' ? 'warn' : 'good';
  return { tone, text: phase };
}
