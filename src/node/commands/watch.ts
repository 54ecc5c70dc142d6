/**
 * `orchplane get --watch`: prints objects and their changes until Ctrl-C.
 */
import { HEALTHY_WATCH_MS, nthDelay, pause } from '../../client/reflector.js';
import { sendForObject } from '../../manifests/send.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiList, ApiObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import { systemClock } from '../../util/clock.js';
import { invariant } from '../../util/invariant.js';
import { messageOf } from '../../util/message-of.js';
import type { CommandEnvironment } from './command.js';
import { type GetValues, namespaceOf, selectorsOf } from './get.js';
import type { OpenCluster } from './open-cluster.js';
import { tableText, valueText } from './output.js';
import { type NamedTarget, objectName } from './resource-words.js';
import { columnsOf, requirePrintable, type Table, tableRows } from './table.js';

const FOREVER_MS = 2 ** 53;

/** Returns the exit code when the command is stopped. Rejects if the server ends. */
export async function watchObjects(
  cluster: OpenCluster,
  [target]: readonly NamedTarget[],
  values: GetValues,
  environment: CommandEnvironment,
): Promise<number> {
  invariant(target !== undefined, 'a watch without a resource');
  const stop = new AbortController();
  // The watch of a saved cluster has no connection that keeps the process alive.
  const release = systemClock.after(FOREVER_MS, () => undefined);
  void environment.untilUnread().then(() => stop.abort());
  try {
    await printChanges(cluster, target, values, { environment, signal: stop.signal });
  } catch (error) {
    // Whatever a watch that is stopped rejects with.
    if (!stop.signal.aborted) throw error;
  } finally {
    release();
  }
  return 0;
}

async function printChanges(
  cluster: OpenCluster,
  target: NamedTarget,
  values: GetValues,
  { environment, signal }: { readonly environment: CommandEnvironment; readonly signal: AbortSignal },
): Promise<void> {
  const isTable = (values.output ?? 'table') === 'table' || values.output === 'wide';
  const transport = isTable ? cluster.tables : cluster.transport;
  const print = isTable ? tablePrinter(target, values, environment) : objectPrinter(target, values, environment);
  const request = requestFor(target, cluster, values);
  const expected = isTable ? 'Table' : 'object';
  const listed = await sendForObject<ApiList | Table>(transport, { ...request, verb: isTable ? 'get' : 'list' });
  requirePrintable(listed, isTable ? 'Table' : 'list');
  let version = listed.metadata.resourceVersion ?? '';
  print(listed, true);
  const { clock } = transport;
  let fruitless = 0;
  while (!signal.aborted) {
    const began = clock.now();
    let hasEvents = false;
    const options = { ...request.options, resourceVersion: version, allowWatchBookmarks: true };
    try {
      const response = await transport.send({ ...request, verb: 'watch', options, signal });
      invariant(response.type === 'watch', 'a watch was answered with an object');
      // A server ends a watch after some minutes; it continues where it was.
      for await (const event of response.watch) {
        hasEvents = true;
        if (event.type === 'ERROR') throw new Error(event.object.message);
        requirePrintable(event.object, expected);
        version = versionOf(event.object, isTable) ?? version;
        if (event.type !== 'BOOKMARK') print(event.object, false);
      }
    } catch (cause) {
      throw new Error(`the watch of ${cluster.server} ended: ${whyEnded(cause)}`, { cause });
    }
    fruitless = hasEvents || clock.now() - began >= HEALTHY_WATCH_MS ? 0 : fruitless + 1;
    // An idle watch ends normally, so the first one is continued at once, as by the reflector.
    const delay = nthDelay(fruitless - 1);
    if (delay > 0) await pause(delay, clock, signal);
  }
}

/** Without the URL of the request and the advice for programs. */
function whyEnded(error: unknown): string {
  const isBroken = StatusError.is(error, 'ServiceUnavailable') && error.cause !== undefined;
  return isBroken ? `the connection is broken: ${messageOf(error.cause)}` : messageOf(error);
}

function requestFor({ resource, name }: NamedTarget, cluster: OpenCluster, values: GetValues): ApiRequest {
  const namespace = namespaceOf(resource, cluster, values);
  const byName = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
  return {
    verb: 'list',
    resource: resource.gvr,
    ...(namespace === undefined ? {} : { namespace }),
    options: { ...selectorsOf(values), ...byName },
  };
}

/** The version of an object, or of the object in the only row of a Table. */
function versionOf(object: ApiObject | Table, isTable: boolean): string | undefined {
  const row = isTable ? (object as Table).rows?.[0]?.object : undefined;
  return row?.metadata?.resourceVersion ?? (object.metadata.resourceVersion || undefined);
}

type Print = (answer: ApiObject | ApiList | Table, isList: boolean) => void;

function tablePrinter({ resource }: NamedTarget, values: GetValues, { writeOut }: CommandEnvironment): Print {
  const widths: number[] = [];
  let columns: ReturnType<typeof columnsOf> = [];
  let hasHeaders = values['no-headers'] !== true;
  return (answer) => {
    const table = answer as Table;
    if (columns.length === 0) columns = columnsOf([table]);
    const hasNamespaces = values['all-namespaces'] === true && resource.namespaced;
    const rows = tableRows([table], { isWide: values.output === 'wide', hasHeaders, hasNamespaces }, columns);
    if (rows.length === 0) return;
    hasHeaders = false;
    writeOut(tableText(rows, widths));
  };
}

function objectPrinter({ resource }: NamedTarget, values: GetValues, { writeOut }: CommandEnvironment): Print {
  const { gvk } = resource;
  return (answer, isList) => {
    const objects = isList ? ((answer as ApiList).items ?? []) : [answer as ApiObject];
    for (const object of objects) {
      if (values.output === 'name') writeOut(`${objectName(gvk, object.metadata.name)}\n`);
      else if (values.output === 'yaml') writeOut(`---\n${valueText('yaml', object)}`);
      else writeOut(valueText('json', object));
    }
  };
}
