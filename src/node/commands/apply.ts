/**
 * The command `orchplane apply`: applies manifests with server-side apply.
 */
import { isOwnershipConflict } from '../../client/explain/apply-plan.js';
import { type AppliedManifest, applyManifests } from '../../manifests/apply.js';
import { parseApiVersion } from '../../meta/gvk.js';
import {
  type CommandEnvironment,
  type CommandOptions,
  type CommandValues,
  defineCommand,
  UsageError,
} from './command.js';
import { checkNamespaces, errorLine, FILENAME_OPTION, readManifestOption } from './manifest-input.js';
import { manifestTarget } from './manifest-target.js';
import { CLUSTER_OPTIONS, openCluster } from './open-cluster.js';
import { valueText } from './output.js';
import { objectName } from './resource-words.js';

/** The options of commands that apply. */
export const APPLY_OPTIONS = {
  ...FILENAME_OPTION,
  namespace: { type: 'string', short: 'n', value: 'NAME', help: 'the namespace of objects that name none' },
  'field-manager': { type: 'string', value: 'NAME', help: 'the owner of the applied fields; default: orchplane' },
  'force-conflicts': { type: 'boolean', help: 'take fields from other managers' },
  'server-side': { type: 'boolean', help: 'for commands that are written for kubectl: there is no other way here' },
} as const satisfies CommandOptions;

export const DRY_RUN_OPTION = {
  'dry-run': { type: 'string', implied: 'server', choices: ['server', 'none'], help: 'the server stores nothing' },
} as const satisfies CommandOptions;

export const command = defineCommand({
  usage: ['apply -f FILE… [options]'],
  summary:
    'Applies manifests to a running or a saved cluster with server-side apply: CustomResourceDefinitions first, then namespaces, then the rest. If a document cannot be read, nothing is applied. The exit code is 1 if the server rejects an object.',
  options: {
    ...APPLY_OPTIONS,
    ...DRY_RUN_OPTION,
    output: { type: 'string', short: 'o', choices: ['json', 'yaml'], help: 'print the applied objects' },
    ...CLUSTER_OPTIONS,
  },
  async run({ values, positionals }, environment) {
    refusePositionals(positionals);
    const manifests = await readManifestOption(values, environment);
    checkNamespaces(manifests, values.namespace);
    await using cluster = await openCluster(values, environment);
    const dryRun = values['dry-run'] === 'server';
    const namespace = values.namespace ?? cluster.namespace;
    const settings = { ...applySettings(values), namespace, dryRun };
    const report = await applyManifests(await manifestTarget(cluster), manifests, settings);
    if (values.output !== undefined) printApplied(report, values.output, environment);
    else for (const each of report) if (each.outcome !== 'failed') environment.writeOut(outcomeLine(each, dryRun));
    return reportProblems(report, environment);
  },
});

/** A shell expands `-f *.yaml` to one option value and further arguments. */
export function refusePositionals([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`unexpected "${first}"; every file needs -f, or give a folder`);
}

/** The settings that options name. */
export function applySettings(values: CommandValues<typeof APPLY_OPTIONS>): {
  readonly fieldManager: string | undefined;
  readonly force: boolean;
} {
  if (values['field-manager'] === '') throw new UsageError('--field-manager takes a name');
  return { fieldManager: values['field-manager'], force: values['force-conflicts'] === true };
}

type Applied = Exclude<AppliedManifest, { readonly outcome: 'failed' }>;

function outcomeLine({ apiVersion, kind, name, outcome }: Applied, dryRun: boolean): string {
  const group = parseApiVersion(apiVersion)?.group ?? '';
  return `${objectName({ group, kind }, name)} ${outcome}${dryRun ? ' (dry run)' : ''}\n`;
}

function printApplied(
  report: readonly AppliedManifest[],
  format: 'json' | 'yaml',
  environment: CommandEnvironment,
): void {
  const items = report.flatMap((each) => (each.outcome === 'failed' ? [] : [each.object]));
  const value = items.length === 1 ? items[0] : { apiVersion: 'v1', kind: 'List', metadata: {}, items };
  environment.writeOut(valueText(format, value));
}

/** Prints warnings, a line for each rejected object, and what helps against conflicts. Returns 1 if some are rejected. */
export function reportProblems(report: readonly AppliedManifest[], { writeError }: CommandEnvironment): 0 | 1 {
  for (const each of report) {
    if (each.outcome === 'failed') writeError(errorLine(each.error.message));
    else for (const warning of each.warnings) writeError(`${each.place}: warning: ${warning}\n`);
  }
  const failures = report.flatMap((each) => (each.outcome === 'failed' ? [each.error] : []));
  if (failures.some(({ cause }) => isOwnershipConflict(cause)))
    writeError('--force-conflicts takes fields from other managers\n');
  return failures.length > 0 ? 1 : 0;
}
