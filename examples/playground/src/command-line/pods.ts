/**
 * The pod and the container that a line names: `web-1`, `pod/web-1` or a workload, `deployment/web`.
 */
import type { CommandContext } from './command.js';
import { type Json, listAt, mapAt, textAt } from './json.js';
import { pathOf } from './resources.js';
import { LineError } from './split-words.js';
import { placeOf } from './targets.js';

/** Reads the pod that a word names, or one of the pods of a workload or Service. */
export async function podNamed(context: CommandContext, word: string): Promise<Json> {
  const resources = await context.resources();
  const [type = '', name] = word.includes('/') ? word.split('/') : ['pods', word];
  const resource = resources.one(type);
  if (name === undefined || name === '') throw new LineError('error: expected POD or TYPE/NAME');
  const object = await context.server.json({ path: placeOf(context, { resource, name }) });
  if (resource.kind === 'Pod') return object;
  const labels = mapAt(object, 'spec', 'selector');
  const found = await podsWithLabels(context, selectorText(labels['matchLabels'] ?? labels));
  const [first] = [...found].sort((left, right) => Number(isReady(right)) - Number(isReady(left)));
  if (first === undefined) throw new LineError(`error: ${word} has no pods`);
  if (found.length > 1) context.note(`Found ${found.length} pods, using pod/${textAt(first, 'metadata', 'name')}`);
  return first;
}

export async function podsWithLabels(context: CommandContext, labelSelector: string): Promise<readonly Json[]> {
  const path = pathOf((await context.resources()).one('pods'), { namespace: context.namespace });
  return listAt(await context.server.json({ path, query: { labelSelector } }), 'items') as readonly Json[];
}

/** The container of `-c`, the pod's default container, or its first one. */
export function containerOf({ flags, note }: CommandContext, pod: Json): string {
  const names = listAt(pod, 'spec', 'containers').map((each) => textAt(each, 'name'));
  const given = flags.text('container') ?? '';
  if (given !== '') return given;
  const [first = ''] = names;
  const annotated = textAt(mapAt(pod, 'metadata', 'annotations'), 'kubectl.kubernetes.io/default-container');
  if (annotated !== '') return annotated;
  if (names.length > 1) note(`Defaulted container "${first}" out of: ${names.join(', ')}`);
  return first;
}

function selectorText(labels: unknown): string {
  return Object.entries(labels as Json)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}

function isReady(pod: Json): boolean {
  const isLive = textAt(pod, 'metadata', 'deletionTimestamp') === '';
  const conditions = listAt(pod, 'status', 'conditions');
  return isLive && conditions.some((each) => textAt(each, 'type') === 'Ready' && textAt(each, 'status') === 'True');
}
