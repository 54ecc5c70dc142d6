/**
 * The command `orchplane get`: prints objects.
 */
import type { ApiResource } from '../../http/transport/discovery.js';
import { sendForObject } from '../../manifests/send.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiList, ApiObject } from '../../meta/object.js';
import { continueTokens, type RequestOptions } from '../../protocol/request.js';
import type { Transport } from '../../protocol/transport.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  UsageError,
} from './command.js';
import { CLUSTER_OPTIONS, type OpenCluster, openCluster } from './open-cluster.js';
import { tableText, valueText } from './output.js';
import { type NamedTarget, objectName, readTargets } from './resource-words.js';
import { requirePrintable, type Table, tableRows } from './table.js';
import { watchObjects } from './watch.js';

const OPTIONS = {
  namespace: { type: 'string', short: 'n', value: 'NAME', help: 'the namespace; default: that of the context' },
  'all-namespaces': { type: 'boolean', short: 'A', help: 'objects of all namespaces' },
  selector: { type: 'string', short: 'l', value: 'SELECTOR', help: 'a label selector: app=web,tier!=db' },
  'field-selector': { type: 'string', value: 'SELECTOR', help: 'a field selector: status.phase=Running' },
  output: {
    type: 'string',
    short: 'o',
    choices: ['table', 'wide', 'json', 'yaml', 'name'],
    help: 'the format of the output; default: table',
  },
  watch: { type: 'boolean', short: 'w', help: 'print changes, too, until Ctrl-C' },
  'no-headers': { type: 'boolean', help: 'tables without their first line' },
  'ignore-not-found': { type: 'boolean', help: 'an object that does not exist is no error' },
  ...CLUSTER_OPTIONS,
} as const satisfies CommandOptions;

export type GetValues = CommandValues<typeof OPTIONS>;

export const command = defineCommand({
  usage: ['get TYPE[.GROUP][,TYPE…] [NAME…] [options]', 'get TYPE/NAME… [options]'],
  summary:
    'Prints objects of a running or a saved cluster. A type is a plural, a singular, a kind, a short name or a category: pods, pod, po, all. The exit code is 1 if a named object does not exist.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    checkValues(values, positionals);
    await using cluster = await openCluster(values, environment);
    const targets = readTargets(await cluster.discover(), positionals);
    checkTargets(values, targets);
    if (values.watch === true) return await watchObjects(cluster, targets, values, environment);
    return await printObjects(cluster, targets, values, environment);
  },
});

function checkValues(values: GetValues, positionals: readonly string[]): void {
  if (positionals.length === 0) throw new UsageError('get takes a resource, such as pods or configmaps/web');
  if (values.namespace === '') throw new UsageError('--namespace takes a name; use --all-namespaces for all');
  if (values.namespace !== undefined && values['all-namespaces'] === true) {
    throw new UsageError('--namespace and --all-namespaces contradict each other');
  }
}

function checkTargets(values: GetValues, targets: readonly NamedTarget[]): void {
  const isNamed = targets.some(({ name }) => name !== undefined);
  const collective = (['selector', 'field-selector', 'all-namespaces'] as const).find(
    (name) => values[name] !== undefined,
  );
  if (isNamed && collective !== undefined) throw new UsageError(`--${collective} and names contradict each other`);
  const unlisted = targets.find(({ resource, name }) => name === undefined && !resource.verbs.includes('list'));
  if (unlisted !== undefined) throw new UsageError(`${unlisted.resource.gvr.resource} cannot be listed`);
  if (values.watch === true && targets.length !== 1) throw new UsageError('--watch takes one type, or one object');
}

/** The namespace of requests for a resource; undefined: all namespaces, or a resource without namespaces. */
export function namespaceOf(resource: ApiResource, cluster: OpenCluster, values: GetValues): string | undefined {
  if (!resource.namespaced || values['all-namespaces'] === true) return undefined;
  return values.namespace ?? cluster.namespace;
}

/** The selectors as request options. */
export function selectorsOf(values: GetValues): RequestOptions {
  const { selector, 'field-selector': fieldSelector } = values;
  return {
    ...(selector === undefined ? {} : { labelSelector: selector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}

/** The objects of one request: several pages of a list, or one object. */
interface Found {
  readonly resource: ApiResource;
  readonly isList: boolean;
  readonly answers: readonly (ApiObject | ApiList | Table)[];
}

async function printObjects(
  cluster: OpenCluster,
  targets: readonly NamedTarget[],
  values: GetValues,
  environment: CommandEnvironment,
): Promise<number> {
  const isTable = (values.output ?? 'table') === 'table' || values.output === 'wide';
  const transport = isTable ? cluster.tables : cluster.transport;
  const found: Found[] = [];
  let isMissing = false;
  for (const target of targets) {
    try {
      const answers = await readTarget(transport, target, cluster, values);
      found.push({ resource: target.resource, isList: target.name === undefined, answers });
    } catch (error) {
      if (!StatusError.is(error, 'NotFound') || target.name === undefined) throw error;
      if (values['ignore-not-found'] === true) continue;
      isMissing = true;
      environment.writeError(`orchplane: ${error.message}\n`);
    }
  }
  const text = isTable ? tablesText(found, values) : objectsText(found, targets, values);
  if (text !== '') environment.writeOut(text);
  else if (!isMissing && values['ignore-not-found'] !== true)
    environment.writeError(noneFound(cluster, targets, values));
  return isMissing ? 1 : 0;
}

/** Lists are read in pages. */
const PAGE_SIZE = 500;

async function readTarget(
  transport: Transport,
  { resource, name }: NamedTarget,
  cluster: OpenCluster,
  values: GetValues,
): Promise<(ApiObject | ApiList | Table)[]> {
  const namespace = namespaceOf(resource, cluster, values);
  const at = { resource: resource.gvr, ...(namespace === undefined ? {} : { namespace }) };
  const isTable = transport === cluster.tables;
  if (name !== undefined) {
    const object = await sendForObject(transport, { verb: 'get', ...at, name, options: {} });
    requirePrintable(object, isTable ? 'Table' : 'object');
    return [object];
  }
  const pages: ApiList[] = [];
  const nextToken = continueTokens(resource.gvr.resource);
  let next: string | undefined;
  do {
    const options = { ...selectorsOf(values), limit: PAGE_SIZE, ...(next === undefined ? {} : { continue: next }) };
    // A Table is no list for the transport.
    const verb = isTable ? 'get' : 'list';
    const page = await sendForObject<ApiList>(transport, { verb, ...at, options });
    requirePrintable(page, isTable ? 'Table' : 'list');
    pages.push(page);
    next = nextToken(page);
  } while (next !== undefined);
  return pages;
}

function tablesText(found: readonly Found[], values: GetValues): string {
  const hasSeveralTypes = new Set(found.map(({ resource }) => resource)).size > 1;
  const byResource = new Map<ApiResource, Table[]>();
  for (const { resource, answers } of found) {
    byResource.set(resource, [...(byResource.get(resource) ?? []), ...(answers as readonly Table[])]);
  }
  const blocks = [...byResource].map(([resource, tables]) => {
    const rows = tableRows(tables, {
      isWide: values.output === 'wide',
      hasHeaders: values['no-headers'] !== true,
      hasNamespaces: values['all-namespaces'] === true && resource.namespaced,
      ...(hasSeveralTypes ? { prefix: objectName(resource.gvk, '') } : {}),
    });
    return tableText(rows);
  });
  return blocks.filter((block) => block !== '').join('\n');
}

function objectsText(found: readonly Found[], targets: readonly NamedTarget[], values: GetValues): string {
  const objects = found.flatMap(objectsOf);
  if (values.output === 'name') {
    const names = found.flatMap((each) =>
      objectsOf(each).map(({ metadata }) => objectName(each.resource.gvk, metadata.name)),
    );
    return names.map((name) => `${name}\n`).join('');
  }
  const format = values.output === 'yaml' ? 'yaml' : 'json';
  const isSingle = targets.length === 1 && targets[0]?.name !== undefined;
  if (isSingle) return objects[0] === undefined ? '' : valueText(format, objects[0]);
  return valueText(format, { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: objects });
}

function objectsOf({ isList, answers }: Found): readonly ApiObject[] {
  return isList
    ? (answers as readonly ApiList[]).flatMap(({ items }) => items ?? [])
    : (answers as readonly ApiObject[]);
}

function noneFound(cluster: OpenCluster, targets: readonly NamedTarget[], values: GetValues): string {
  const [first] = targets;
  const namespace = first === undefined ? undefined : namespaceOf(first.resource, cluster, values);
  return `no objects found${namespace === undefined ? '' : ` in the namespace ${namespace}`}\n`;
}
