/**
 * `rollout`: prints the progress and the revisions of a workload, restarts it, and rolls it back.
 */
import { type Command, type CommandContext, DRY_RUN_FLAG, type Named } from '../command.js';
import { at, type Json, listAt, mapAt, numberAt, textAt } from '../json.js';
import { pathOf, typeName } from '../resources.js';
import { LineError } from '../split-words.js';
import { layOut } from '../table.js';
import { placeOf, targetOf } from '../targets.js';
import { printWritten } from './apply.js';
import { change } from './write.js';

const SUBCOMMANDS: Readonly<Record<string, (context: CommandContext, target: Named) => Promise<number>>> = {
  status,
  history,
  restart,
  undo,
};

export const rollout: Command = {
  name: 'rollout',
  summary: 'Watch, list, restart and undo rollouts of a workload',
  usage: `(${Object.keys(SUBCOMMANDS).join(' | ')}) (TYPE NAME | TYPE/NAME) [flags]`,
  words: Object.keys(SUBCOMMANDS),
  kindAt: 1,
  flags: {
    watch: { type: 'switch', short: 'w', help: 'wait until the rollout is complete (default)' },
    revision: { type: 'text', help: 'for history: print the template of this revision' },
    'to-revision': { type: 'text', help: 'for undo: the revision to roll back to' },
    'dry-run': DRY_RUN_FLAG,
  },
  examples: ['rollout status deployment/web', 'rollout history deployment/web', 'rollout restart deployment/web'],
  async run(context) {
    const [what = '', ...rest] = context.args;
    const subcommand = Object.hasOwn(SUBCOMMANDS, what) ? SUBCOMMANDS[what] : undefined;
    if (subcommand === undefined)
      throw new LineError(
        `error: unknown rollout command "${what}"; must be one of ${Object.keys(SUBCOMMANDS).join(', ')}`,
      );
    return subcommand(context, await targetOf(context, rest));
  },
};

interface Progress {
  readonly text: string;
  readonly isDone: boolean;
  readonly failure?: string;
}

async function status(context: CommandContext, target: Named): Promise<number> {
  const object = await context.server.json({ path: placeOf(context, target) });
  let progress = progressOf(object);
  let lastPrinted = '';
  const printProgress = () => {
    if (progress.failure !== undefined) throw new LineError(`error: ${progress.failure}`);
    if (progress.text !== lastPrinted) context.print(progress.text);
    lastPrinted = progress.text;
  };
  printProgress();
  const isFollowed = !context.flags.has('watch') || context.flags.isOn('watch');
  if (progress.isDone || !isFollowed) return 0;
  const events = context.server.lines({
    path: pathOf(target.resource, { namespace: context.namespace }),
    query: {
      watch: 'true',
      fieldSelector: `metadata.name=${target.name}`,
      resourceVersion: textAt(object, 'metadata', 'resourceVersion'),
    },
    signal: context.signal,
  });
  for await (const event of events) {
    if (at(event, 'type') === 'DELETED') throw new LineError('error: object has been deleted');
    progress = progressOf(mapAt(event, 'object'));
    printProgress();
    if (progress.isDone) return 0;
  }
  return 1;
}

function progressOf(object: Json): Progress {
  const kind = textAt(object, 'kind');
  if (kind === 'Deployment') return deploymentProgress(object);
  if (kind === 'DaemonSet') return daemonProgress(object);
  if (kind === 'StatefulSet') return statefulProgress(object);
  throw new LineError(`error: no status viewer has been implemented for ${kind}`);
}

function deploymentProgress(object: Json): Progress {
  const name = textAt(object, 'metadata', 'name');
  if (!isObserved(object)) return { text: 'Waiting for deployment spec update to be observed...', isDone: false };
  const conditions = listAt(object, 'status', 'conditions');
  const progressing = conditions.find((each) => textAt(each, 'type') === 'Progressing');
  if (textAt(progressing, 'reason') === 'ProgressDeadlineExceeded') {
    return { text: '', isDone: true, failure: `deployment "${name}" exceeded its progress deadline` };
  }
  const wanted = numberAt(object, 'spec', 'replicas');
  const updated = numberAt(object, 'status', 'updatedReplicas');
  const all = numberAt(object, 'status', 'replicas');
  const available = numberAt(object, 'status', 'availableReplicas');
  const waiting = (what: string) => ({
    text: `Waiting for deployment "${name}" rollout to finish: ${what}...`,
    isDone: false,
  });
  if (updated < wanted) return waiting(`${updated} out of ${wanted} new replicas have been updated`);
  if (all > updated) return waiting(`${all - updated} old replicas are pending termination`);
  if (available < updated) return waiting(`${available} of ${updated} updated replicas are available`);
  return { text: `deployment "${name}" successfully rolled out`, isDone: true };
}

function daemonProgress(object: Json): Progress {
  const name = textAt(object, 'metadata', 'name');
  if (!isObserved(object)) return { text: 'Waiting for daemon set spec update to be observed...', isDone: false };
  const wanted = numberAt(object, 'status', 'desiredNumberScheduled');
  const updated = numberAt(object, 'status', 'updatedNumberScheduled');
  const available = numberAt(object, 'status', 'numberAvailable');
  const waiting = (what: string) => ({
    text: `Waiting for daemon set "${name}" rollout to finish: ${what}...`,
    isDone: false,
  });
  if (updated < wanted) return waiting(`${updated} out of ${wanted} new pods have been updated`);
  if (available < wanted) return waiting(`${available} of ${wanted} updated pods are available`);
  return { text: `daemon set "${name}" successfully rolled out`, isDone: true };
}

function statefulProgress(object: Json): Progress {
  if (!isObserved(object)) return { text: 'Waiting for statefulset spec update to be observed...', isDone: false };
  const wanted = numberAt(object, 'spec', 'replicas');
  const ready = numberAt(object, 'status', 'readyReplicas');
  const updated = numberAt(object, 'status', 'updatedReplicas');
  if (ready < wanted) return { text: `Waiting for ${wanted - ready} pods to be ready...`, isDone: false };
  const revision = textAt(object, 'status', 'updateRevision');
  if (revision !== textAt(object, 'status', 'currentRevision')) {
    return {
      text: `waiting for statefulset rolling update to complete ${updated} pods at revision ${revision}...`,
      isDone: false,
    };
  }
  return {
    text: `statefulset rolling update complete ${numberAt(object, 'status', 'currentReplicas')} pods at revision ${revision}...`,
    isDone: true,
  };
}

function isObserved(object: Json): boolean {
  return numberAt(object, 'status', 'observedGeneration') >= numberAt(object, 'metadata', 'generation');
}

interface Revision {
  readonly number: number;
  readonly cause: string;
  readonly template: unknown;
}

async function history(context: CommandContext, target: Named): Promise<number> {
  const revisions = await revisionsOf(context, target);
  const wanted = context.flags.text('revision');
  if (wanted !== undefined) {
    const one = revisions.find(({ number }) => number === Number(wanted));
    if (one === undefined) throw new LineError('error: unable to find the specified revision');
    context.print(`${typeName(target.resource)}/${target.name} with revision #${wanted}`);
    for (const container of listAt(one.template, 'spec', 'containers')) {
      context.print(`  ${textAt(container, 'name')}: ${textAt(container, 'image')}`);
    }
    return 0;
  }
  context.print(`${typeName(target.resource)}/${target.name} `);
  const rows = revisions.map(({ number, cause }) => [String(number), cause]);
  for (const line of layOut([['REVISION', 'CHANGE-CAUSE'], ...rows])) context.print(line);
  return 0;
}

/** The revisions in order: ReplicaSets of a Deployment, ControllerRevisions of other kinds. */
async function revisionsOf(context: CommandContext, target: Named): Promise<readonly Revision[]> {
  const owner = await context.server.json({ path: placeOf(context, target) });
  const isDeployment = target.resource.kind === 'Deployment';
  const kept = (await context.resources()).one(isDeployment ? 'replicasets.apps' : 'controllerrevisions.apps');
  const list = await context.server.json({ path: pathOf(kept, { namespace: context.namespace }) });
  const uid = textAt(owner, 'metadata', 'uid');
  return listAt(list, 'items')
    .filter((item) => listAt(item, 'metadata', 'ownerReferences').some((each) => textAt(each, 'uid') === uid))
    .map((item) => {
      const annotations = mapAt(item, 'metadata', 'annotations');
      const annotated = Object.entries(annotations).find(([key]) => /^deployment\..*\/revision$/.test(key))?.[1];
      const cause = Object.entries(annotations).find(([key]) => key.endsWith('/change-cause'))?.[1];
      return {
        number: isDeployment ? Number(annotated ?? 0) : numberAt(item, 'revision'),
        cause: typeof cause === 'string' ? cause : '<none>',
        template: isDeployment ? at(item, 'spec', 'template') : at(item, 'data', 'spec', 'template'),
      };
    })
    .sort((left, right) => left.number - right.number);
}

async function restart(context: CommandContext, target: Named): Promise<number> {
  const path = placeOf(context, target);
  const restartedAt = new Date(context.shell.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const annotations = { 'kubectl.kubernetes.io/restartedAt': restartedAt };
  const body = { spec: { template: { metadata: { annotations } } } };
  const contentType = 'application/strategic-merge-patch+json';
  await context.server.send(change(context, { method: 'PATCH', path, contentType, body }, 'kubectl-rollout'));
  printWritten(context, target.resource, target.name, 'restarted');
  return 0;
}

async function undo(context: CommandContext, target: Named): Promise<number> {
  const revisions = await revisionsOf(context, target);
  const wanted = context.flags.text('to-revision');
  const back = wanted === undefined ? revisions.at(-2) : revisions.find(({ number }) => number === Number(wanted));
  if (back === undefined)
    throw new LineError(`error: no rollout history found for ${target.resource.kind.toLowerCase()} "${target.name}"`);
  const template = withoutHash(back.template);
  const path = placeOf(context, target);
  const body = [{ op: 'replace', path: '/spec/template', value: template }];
  const contentType = 'application/json-patch+json';
  await context.server.send(change(context, { method: 'PATCH', path, contentType, body }, 'kubectl-rollout'));
  printWritten(context, target.resource, target.name, 'rolled back');
  return 0;
}

/** Removes the `pod-template-hash` label, which is not part of the user's template. */
function withoutHash(template: unknown): Json {
  const { 'pod-template-hash': _hash, ...labels } = mapAt(template, 'metadata', 'labels');
  return { ...(template as Json), metadata: { ...mapAt(template, 'metadata'), labels } };
}
