/**
 * The command `orchplane delete`: deletes objects and waits until they are gone.
 */
import type { ApiResource } from '../../http/transport/discovery.js';
import { type Manifest, ManifestError } from '../../manifests/read.js';
import { sendForObject } from '../../manifests/send.js';
import { whyNotServed } from '../../manifests/unknown-kind.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiList, ApiObject } from '../../meta/object.js';
import { DurationError, parseDuration } from '../../text/time/duration.js';
import { translateError } from '../../util/catch-error.js';
import { DRY_RUN_OPTION } from './apply.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  UsageError,
} from './command.js';
import { checkNamespaces, errorLine, FILENAME_OPTION, readManifestOption } from './manifest-input.js';
import { CLUSTER_OPTIONS, type OpenCluster, openCluster } from './open-cluster.js';
import { objectName, readTargets } from './resource-words.js';

const OPTIONS = {
  ...FILENAME_OPTION,
  namespace: { type: 'string', short: 'n', value: 'NAME', help: 'the namespace; default: that of the context' },
  selector: { type: 'string', short: 'l', value: 'SELECTOR', help: 'all objects of the type with these labels' },
  all: { type: 'boolean', help: 'all objects of the type in the namespace' },
  cascade: {
    type: 'string',
    implied: 'background',
    choices: ['background', 'foreground', 'orphan'],
    help: 'how dependents are deleted; default: background',
  },
  'ignore-not-found': { type: 'boolean', help: 'an object that does not exist is no error' },
  wait: {
    type: 'string',
    implied: 'true',
    choices: ['true', 'false'],
    help: 'wait until the objects are gone; default: true',
  },
  timeout: {
    type: 'string',
    value: 'DURATION',
    help: 'how long to wait, such as 30s; 0 looks once; default: until Ctrl-C',
  },
  ...DRY_RUN_OPTION,
  ...CLUSTER_OPTIONS,
} as const satisfies CommandOptions;

type DeleteValues = CommandValues<typeof OPTIONS>;

export const command = defineCommand({
  usage: ['delete -f FILE… [options]', 'delete TYPE[.GROUP] NAME… [options]', 'delete TYPE/NAME… [options]'],
  summary:
    'Deletes objects of a running or a saved cluster. The exit code is 1 if an object does not exist or the server refuses to delete it.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    const timeoutMs = checkValues(values, positionals);
    const manifests = values.filename === undefined ? undefined : await readManifestOption(values, environment);
    if (manifests !== undefined) checkNamespaces(manifests, values.namespace);
    await using cluster = await openCluster(values, environment);
    const resources = await cluster.discover();
    const objects =
      manifests === undefined
        ? await selectObjects(cluster, resources, positionals, values)
        : manifests.map((manifest) => objectOf(manifest, resources, values.namespace ?? cluster.namespace));
    if (objects.length === 0) environment.writeError('no objects found\n');
    return await deleteObjects(cluster, objects, { values, timeoutMs, environment });
  },
});

/** Returns the time to wait. Throws UsageError. */
function checkValues(values: DeleteValues, positionals: readonly string[]): number {
  const { filename, namespace, selector, all } = values;
  if ((filename === undefined) === (positionals.length === 0)) {
    throw new UsageError('delete takes either -f, or a type with names');
  }
  if (namespace === '') throw new UsageError('--namespace takes a name');
  // An empty selector matches every object; it is usually a variable that is not set.
  if (selector === '') throw new UsageError('--selector takes a selector; --all deletes all objects');
  if (selector !== undefined && all === true) throw new UsageError('--selector and --all contradict each other');
  if (filename !== undefined && (selector ?? all) !== undefined) {
    throw new UsageError('-f contradicts --selector and --all');
  }
  if (values.timeout === undefined) return Number.POSITIVE_INFINITY;
  const nanoseconds = translateError(
    DurationError,
    () => parseDuration(values.timeout ?? ''),
    () => new UsageError(`--timeout takes a duration such as 30s, got "${values.timeout}"`),
  );
  if (nanoseconds < 0n) throw new UsageError(`--timeout takes no negative duration, got "${values.timeout}"`);
  return Number(nanoseconds) / 1e6;
}

/** An object to delete. */
interface ObjectToDelete {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly name: string;
}

function objectOf(manifest: Manifest, resources: readonly ApiResource[], namespace: string): ObjectToDelete {
  const { apiVersion, kind, name } = manifest;
  const resource = resources.find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  if (resource === undefined) {
    const why = whyNotServed(manifest, resources);
    throw new ManifestError(manifest.place, `no kind ${kind} in ${apiVersion} is served${why}`);
  }
  if (name === undefined) throw new ManifestError(manifest.place, `${kind} has no metadata.name`);
  return { resource, namespace: resource.namespaced ? (manifest.namespace ?? namespace) : undefined, name };
}

async function selectObjects(
  cluster: OpenCluster,
  resources: readonly ApiResource[],
  words: readonly string[],
  values: DeleteValues,
): Promise<readonly ObjectToDelete[]> {
  const selected: ObjectToDelete[] = [];
  const isCollective = values.selector !== undefined || values.all === true;
  for (const { resource, name } of readTargets(resources, words)) {
    const namespace = resource.namespaced ? (values.namespace ?? cluster.namespace) : undefined;
    if ((name === undefined) !== isCollective) {
      throw new UsageError('delete takes either names, or --selector or --all');
    }
    const names = name === undefined ? await namesIn(cluster, resource, namespace, values.selector) : [name];
    selected.push(...names.map((each) => ({ resource, namespace, name: each })));
  }
  return selected;
}

async function namesIn(
  cluster: OpenCluster,
  resource: ApiResource,
  namespace: string | undefined,
  labelSelector: string | undefined,
): Promise<readonly string[]> {
  const { items } = await sendForObject<ApiList>(cluster.transport, {
    verb: 'list',
    resource: resource.gvr,
    namespace,
    options: labelSelector === undefined ? {} : { labelSelector },
  });
  return items.map(({ metadata }) => metadata.name);
}

interface Deletion {
  readonly values: DeleteValues;
  readonly timeoutMs: number;
  readonly environment: CommandEnvironment;
}

async function deleteObjects(
  cluster: OpenCluster,
  objects: readonly ObjectToDelete[],
  deletion: Deletion,
): Promise<number> {
  const { values, environment } = deletion;
  const isDryRun = values['dry-run'] === 'server';
  const pending: (ObjectToDelete & { readonly uid: string | undefined })[] = [];
  let problems = 0;
  for (const object of objects) {
    const shown = objectName(object.resource.gvk, object.name);
    try {
      const answer = await sendDelete(cluster, object, values);
      const deleted = { ...object, uid: uidOf(answer) };
      // A Status means that the object is gone; some kinds return the object in that case, too.
      const isPending = !isDryRun && answer.kind !== 'Status' && (await isPresent(cluster, deleted));
      environment.writeOut(`${shown} ${isPending ? 'is being deleted' : 'deleted'}${isDryRun ? ' (dry run)' : ''}\n`);
      if (isPending) pending.push(deleted);
    } catch (error) {
      if (!StatusError.is(error) || error.code >= 500) throw error;
      if (error.reason === 'NotFound' && values['ignore-not-found'] === true) continue;
      problems++;
      environment.writeError(errorLine(`${shown}: ${error.message}`));
    }
  }
  if (values.wait !== 'false' && !isDryRun) problems += await untilGone(cluster, pending, deletion);
  return problems === 0 ? 0 : 1;
}

function sendDelete(
  { transport }: OpenCluster,
  { resource, namespace, name }: ObjectToDelete,
  values: DeleteValues,
): Promise<ApiObject> {
  const cascade = values.cascade ?? 'background';
  const propagationPolicy = `${cascade.slice(0, 1).toUpperCase()}${cascade.slice(1)}`;
  const dryRun = values['dry-run'] === 'server' ? { dryRun: ['All'] } : {};
  const options = { propagationPolicy, ...dryRun };
  return sendForObject(transport, { verb: 'delete', resource: resource.gvr, namespace, name, options });
}

/** The answer is the object, or a Status whose details name it. */
function uidOf(answer: ApiObject & { readonly details?: unknown }): string | undefined {
  const { uid } = (answer.details ?? answer.metadata) as { readonly uid?: string };
  return uid;
}

/** The longest pause between two requests for an object. */
const MAX_PAUSE_MS = 1_000;

/** Returns the number of objects that are still there. */
async function untilGone(
  cluster: OpenCluster,
  objects: readonly (ObjectToDelete & { readonly uid: string | undefined })[],
  { timeoutMs, environment }: Deletion,
): Promise<number> {
  const { clock } = cluster.transport;
  const end = clock.now() + timeoutMs;
  let remaining = 0;
  for (const object of objects) {
    const shown = objectName(object.resource.gvk, object.name);
    let isGone = true;
    for (let pauseMs = 50; await isPresent(cluster, object); pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      // No controllers run in a saved cluster, so waiting would not end.
      if (cluster.folder !== undefined) {
        environment.writeError(
          `orchplane: ${shown} is still there; a served cluster with controllers completes the deletion\n`,
        );
        isGone = false;
        break;
      }
      if (clock.now() >= end) {
        environment.writeError(`orchplane: ${shown} is still being deleted\n`);
        remaining++;
        isGone = false;
        break;
      }
      const wait = Math.min(pauseMs, end - clock.now());
      await new Promise<void>((resolve) => void clock.after(wait, resolve));
    }
    if (isGone) environment.writeOut(`${shown} deleted\n`);
  }
  return remaining;
}

async function isPresent(
  { transport }: OpenCluster,
  { resource, namespace, name, uid }: ObjectToDelete & { readonly uid: string | undefined },
): Promise<boolean> {
  if (!resource.verbs.includes('get')) return false;
  try {
    const live = await sendForObject(transport, { verb: 'get', resource: resource.gvr, namespace, name, options: {} });
    return uid === undefined || live.metadata.uid === uid;
  } catch (error) {
    // A user who may not read the object cannot wait for its end.
    if (StatusError.is(error, 'NotFound') || StatusError.is(error, 'Forbidden')) return false;
    throw error;
  }
}
