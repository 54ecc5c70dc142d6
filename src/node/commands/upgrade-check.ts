/**
 * The command `orchplane upgrade-check`: reports API versions that a release deprecates or no longer serves.
 */

import { REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import { checkKnownRelease, OLDEST_KNOWN_RELEASE } from '../../kinds/releases/api-versions.js';
import type { Finding } from '../../manifests/finding.js';
import { type CheckedObject, objectsOf, upgradeFindings } from '../../manifests/upgrade-check.js';
import { messageOf } from '../../util/message-of.js';
import { type CommandEnvironment, type CommandValues, defineCommand, refuseBeside, UsageError } from './command.js';
import { FINDING_OPTIONS, printFindings, readTree, TREE_OPTION, whySkipped } from './findings.js';
import { CLUSTER_OPTIONS, openCluster, refuseRunning } from './open-cluster.js';
import { counted } from './output.js';

export const command = defineCommand({
  usage: ['upgrade-check --to RELEASE -f FILE… [options]', 'upgrade-check --to RELEASE --kubeconfig FILE [options]'],
  summary:
    'Reports which API versions of a dump, of manifests or of a cluster are deprecated or gone in a release: those of objects and of references between them, and those with which clients have written objects. The exit code is 1 if a version of an object is gone, and with --strict also for warnings.',
  options: {
    to: {
      type: 'string',
      value: 'RELEASE',
      help: `the release to check, ${OLDEST_KNOWN_RELEASE} to ${REFERENCE_RELEASE}`,
    },
    ...TREE_OPTION,
    ...FINDING_OPTIONS,
    ...CLUSTER_OPTIONS,
  },
  async run({ values, positionals }, environment) {
    const [extra] = positionals;
    if (extra !== undefined) throw new UsageError(`unexpected "${extra}"; every file needs -f`);
    if (values.to === undefined)
      throw new UsageError('the option --to is missing, which names a release, such as 1.33');
    const release = releaseOf(values.to);
    const { objects, findings, where } = await readSource(values, environment);
    const found = upgradeFindings(objects, release);
    return printFindings(
      [...findings, ...found],
      `${counted(objects.length, 'object')} in ${where}`,
      values,
      environment,
    );
  },
});

function releaseOf(text: string) {
  try {
    return checkKnownRelease(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(`--to: ${messageOf(error)}`);
  }
}

interface CheckSource {
  readonly objects: readonly CheckedObject[];
  readonly findings: readonly Finding[];
  readonly where: string;
}

async function readSource(
  values: CommandValues<typeof TREE_OPTION & typeof CLUSTER_OPTIONS>,
  environment: CommandEnvironment,
): Promise<CheckSource> {
  const { filename = [] } = values;
  if (filename.length === 0) return readRunning(values, environment);
  refuseRunning('-f', values);
  refuseBeside('-f', values, ['data']);
  const { documents, findings, files } = await readTree('-f', filename, environment);
  const objects = documents.flatMap(objectsOf);
  if (objects.length === 0 && findings.every(({ level }) => level === 'note')) {
    throw new UsageError(`-f ${filename.join(', ')} contains no objects${whySkipped(findings)}`);
  }
  return { objects, findings, where: counted(files, 'file') };
}

async function readRunning(
  values: CommandValues<typeof CLUSTER_OPTIONS>,
  environment: CommandEnvironment,
): Promise<CheckSource> {
  await using cluster = await openCluster(values, environment);
  // Rejects a dialect that is not that of the cluster.
  await cluster.discover();
  const { readCluster } = await import('../../etcd/read-cluster.js');
  const { objects } = await readCluster(cluster.transport);
  return { objects: Array.from(objects, ({ object }) => ({ value: object })), findings: [], where: 'the cluster' };
}
