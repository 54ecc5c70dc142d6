/**
 * The command `orchplane import`: reads the objects of a running cluster into a file or into another cluster.
 */
import type { ApiResource } from '../../http/transport/discovery.js';
import { type ReadObjectsOptions, readObjects } from '../../manifests/read-objects.js';
import type { ApiObject } from '../../meta/object.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  UsageError,
} from './command.js';
import { writeDumpFile } from './dump-file.js';
import { errorLine } from './manifest-input.js';
import { KUBECONFIG_OPTIONS, type OpenCluster, openCluster } from './open-cluster.js';
import { counted } from './output.js';
import { type ProgressBar, progressBar } from './progress.js';
import { RESTORE_RETRIES, restoreInto } from './restore-into.js';

const OPTIONS = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    writes: 'text',
    help: 'the file to write: .json is JSON, others YAML; - is standard output',
  },
  to: { type: 'string', value: 'FILE', help: 'the kubeconfig of a running cluster that gets the objects' },
  overwrite: { type: 'boolean', help: 'with --to: replace objects that exist there' },
  namespaces: {
    type: 'string',
    multiple: true,
    value: 'LIST',
    help: 'only objects of these namespaces, and cluster-scoped objects',
  },
  skip: {
    type: 'string',
    multiple: true,
    value: 'LIST',
    help: 'resources to leave out, such as pods,secrets; default: events,leases',
  },
  'redact-secrets': { type: 'boolean', help: 'keep the keys of Secrets and replace their values' },
  'no-managed-fields': { type: 'boolean', help: 'leave out metadata.managedFields' },
  ...KUBECONFIG_OPTIONS,
} as const satisfies CommandOptions;

type ImportValues = CommandValues<typeof OPTIONS>;

export const command = defineCommand({
  usage: ['import -o FILE [options]', 'import --to KUBECONFIG [options]'],
  summary:
    'Reads the objects and CustomResourceDefinitions of a running cluster. "orchplane restore" and "orchplane serve --apply" take the file. The exit code is 1 if the cluster refuses to list some resources, or --to refuses some objects.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    checkValues(values, positionals);
    await using cluster = await openCluster(values, environment);
    // An error in its kubeconfig is reported before the import.
    await using target =
      values.to === undefined
        ? undefined
        : await openCluster({ kubeconfig: values.to, dialect: values.dialect }, environment, RESTORE_RETRIES);
    const resources = await discover(cluster, values);
    if (target !== undefined) await checkTarget(target, values);
    await checkNamespaces(cluster, values);
    using bar = progressBar(environment);
    const source = { cluster, resources };
    if (target === undefined) return await importToFile(source, values, bar, environment);
    const found = await collect(source, values, bar, environment);
    const refused = await restoreInto(target, found.objects, values, bar, environment);
    return found.refusals + refused === 0 ? 0 : 1;
  },
});

function checkValues({ output, to, overwrite, namespaces }: ImportValues, [rest]: readonly string[]): void {
  if (rest !== undefined) throw new UsageError(`unexpected "${rest}"; the file is given with --output`);
  if ((output === undefined) === (to === undefined) || output === '' || to === '') {
    throw new UsageError('import takes either --output, a file to write, or --to, the kubeconfig of another cluster');
  }
  if (overwrite === true && to === undefined) throw new UsageError('--overwrite needs --to');
  if (namespaces?.join().split(',').includes('') === true) {
    throw new UsageError(`--namespaces takes names, separated by commas; one is empty in "${namespaces.join()}"`);
  }
}

/** The groups of objects depend on the dialect. */
async function checkTarget(target: OpenCluster, { to, dialect = 'kubernetes' }: ImportValues): Promise<void> {
  await target.discover().catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--to ${to}: its dialect is not ${dialect}, which is that of the imported cluster`);
  });
}

function listOf(values: readonly string[]): string[] {
  return values.flatMap((list) => list.split(',')).filter((name) => name !== '');
}

/** A misspelled namespace is an error. */
async function checkNamespaces({ transport }: OpenCluster, { namespaces = [] }: ImportValues): Promise<void> {
  for (const name of listOf(namespaces)) {
    const resource = { group: '', version: 'v1', resource: 'namespaces' };
    await transport.send({ verb: 'get', resource, name, options: {} });
  }
}

/** A misspelled resource would be imported. */
async function discover(cluster: OpenCluster, { skip = [] }: ImportValues) {
  const resources = await cluster.discover();
  const unknown = listOf(skip).find((name) => !resources.some(({ gvr }) => name.split('.')[0] === gvr.resource));
  if (unknown !== undefined)
    throw new UsageError(`--skip ${unknown}: the cluster has no such resource; secrets is one`);
  return resources;
}

/** What is read by default is what tests need: events and leases of a real cluster change all the time. */
const SKIPPED = ['events', 'leases'];

interface Refusals {
  count: number;
}

function readOptions(
  values: ImportValues,
  bar: ProgressBar,
  refusals: Refusals,
  { writeError }: CommandEnvironment,
): ReadObjectsOptions {
  return {
    namespaces: values.namespaces === undefined ? undefined : listOf(values.namespaces),
    skip: values.skip === undefined ? SKIPPED : listOf(values.skip),
    redactSecrets: values['redact-secrets'] === true,
    withoutManagedFields: values['no-managed-fields'] === true,
    onResource: ({ resource, done, total, objects }) => bar.update(done, total, `${objects} objects, ${resource}`),
    onRefused(resource, error) {
      refusals.count++;
      writeError(errorLine(`${resource} is left out: ${error.message}`));
    },
  };
}

/** What is imported. */
interface ImportSource {
  readonly cluster: OpenCluster;
  readonly resources: readonly ApiResource[];
}

async function importToFile(
  { cluster, resources }: ImportSource,
  values: ImportValues,
  bar: ProgressBar,
  environment: CommandEnvironment,
): Promise<number> {
  const { output = '' } = values;
  const refusals: Refusals = { count: cluster.skipped.size };
  const options = readOptions(values, bar, refusals, environment);
  let count = 0;
  await writeDumpFile(output, environment, async (add) => {
    let version = 0n;
    for await (const { object, listVersion } of readObjects(cluster.transport, resources, options)) {
      await add(object);
      count++;
      const listed = /^\d{1,20}$/.test(listVersion) ? BigInt(listVersion) : 0n;
      if (listed > version) version = listed;
    }
    return String(version);
  });
  const isPrinted = output === '-';
  const outcome = `wrote ${counted(count, 'object')} to ${isPrinted ? 'standard output' : output}\n`;
  (isPrinted ? environment.writeError : environment.writeOut)(outcome);
  return refusals.count === 0 ? 0 : 1;
}

async function collect(
  { cluster, resources }: ImportSource,
  values: ImportValues,
  bar: ProgressBar,
  environment: CommandEnvironment,
): Promise<{ readonly objects: readonly ApiObject[]; readonly refusals: number }> {
  const refusals: Refusals = { count: cluster.skipped.size };
  const options = readOptions(values, bar, refusals, environment);
  const objects: ApiObject[] = [];
  for await (const { object } of readObjects(cluster.transport, resources, options)) objects.push(object);
  return { objects, refusals: refusals.count };
}
