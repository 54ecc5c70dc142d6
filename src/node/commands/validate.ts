/**
 * The command `orchplane validate`: checks manifests with the server of a cluster in memory.
 */
import { createCluster } from '../../cluster/full-cluster.js';
import { checkRelease, OLDEST_RELEASE, REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import { isCrd } from '../../manifests/apply.js';
import type { Finding } from '../../manifests/finding.js';
import { type Manifest, ManifestError, manifestsOf } from '../../manifests/read.js';
import { conversionsFor, validateManifests } from '../../manifests/validate.js';
import { withoutPlace } from '../manifest-tree.js';
import { type CommandEnvironment, defineCommand, UsageError } from './command.js';
import { FINDING_OPTIONS, printFindings, readTree, TREE_OPTION, whySkipped } from './findings.js';
import { counted } from './output.js';
import { readServedApis, SERVED_API_FLAGS } from './serve-settings.js';

export const command = defineCommand({
  usage: ['validate -f FILE… [options]'],
  summary:
    'Checks manifests as the API server does: schemas, CEL rules, admission policies, quotas, limits, pod security and deprecations. Policies, quotas, limits and CRDs among the manifests apply to the others. Missing namespaces are created. Nothing leaves this process. The exit code is 1 if there are errors.',
  options: {
    ...TREE_OPTION,
    crds: { type: 'string', multiple: true, value: 'FILE', help: 'CRDs of the manifests; may be repeated' },
    policies: {
      type: 'string',
      multiple: true,
      value: 'FILE',
      help: 'objects that apply to the manifests: policies and their bindings, quotas, limits, namespaces; may be repeated',
    },
    namespace: { type: 'string', short: 'n', value: 'NAME', help: 'the namespace of objects that name none' },
    release: {
      type: 'string',
      value: 'RELEASE',
      help: `the release of the API server, ${OLDEST_RELEASE} to ${REFERENCE_RELEASE}; default: ${REFERENCE_RELEASE}`,
    },
    dialect: { type: 'string', choices: ['kubernetes', 'orch'], help: 'the dialect; default: kubernetes' },
    ...SERVED_API_FLAGS,
    ...FINDING_OPTIONS,
  },
  async run({ values, positionals }, environment) {
    const { filename = [], crds = [], policies = [], namespace, release = REFERENCE_RELEASE } = values;
    const [extra] = positionals;
    if (extra !== undefined) throw new UsageError(`unexpected "${extra}"; every file needs -f`);
    if (filename.length === 0) throw new UsageError('the option -f is missing, which names manifests');
    if (namespace === '') throw new UsageError('--namespace takes a name');
    const checked = usable(() => checkRelease(release), '--release: ');
    const { featureGates, runtimeConfig } = readServedApis(values);
    const definitions = await readObjects('--crds', crds, environment);
    const policyObjects = await readObjects('--policies', policies, environment);
    const objects = await readObjects('-f', filename, environment);
    refuseEmpty('--crds', crds, definitions, isCrd);
    refuseEmpty('--policies', policies, policyObjects);
    const isEmpty = objects.manifests.length === 0 && objects.findings.every(({ level }) => level === 'note');
    if (isEmpty) throw new UsageError(`-f ${filename.join(', ')} contains no manifests${whySkipped(objects.findings)}`);
    const all = [...definitions.manifests.filter(isCrd), ...policyObjects.manifests, ...objects.manifests];
    await using cluster = usable(() =>
      createCluster({
        dialect: values.dialect ?? 'kubernetes',
        release: checked,
        featureGates,
        ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
        conversions: conversionsFor(all),
      }),
    );
    const found = await validateManifests(cluster, all, namespace === undefined ? {} : { namespace });
    const what = `${counted(objects.manifests.length, 'object')} in ${counted(objects.files, 'file')}`;
    const findings = [...definitions.findings, ...policyObjects.findings, ...objects.findings, ...found];
    return printFindings(findings, what, values, environment);
  },
});

/** What `use` returns; a TypeError about its options becomes a UsageError. */
function usable<Value>(use: () => Value, option = ''): Value {
  try {
    return use();
  } catch (error) {
    const [, problem] = error instanceof TypeError ? (/^orchplane: (.*)$/s.exec(error.message) ?? []) : [];
    if (problem === undefined) throw error;
    throw new UsageError(option + problem);
  }
}

interface ReadObjects {
  readonly manifests: readonly Manifest[];
  readonly findings: readonly Finding[];
  readonly files: number;
}

/** A misspelled folder would otherwise disable a check. */
function refuseEmpty(
  option: string,
  names: readonly string[],
  { manifests, findings }: ReadObjects,
  isWanted?: (manifest: Manifest) => boolean,
): void {
  const isBroken = findings.some(({ level }) => level === 'error');
  if (names.length === 0 || isBroken || manifests.some(isWanted ?? (() => true))) return;
  const what = isWanted === undefined ? 'objects' : 'CustomResourceDefinition';
  throw new UsageError(`${option} ${names.join(', ')} contains no ${what}`);
}

async function readObjects(
  option: string,
  names: readonly string[],
  environment: CommandEnvironment,
): Promise<ReadObjects> {
  const { documents, findings, files } = await readTree(option, names, environment);
  const read = documents.flatMap(manifestsOf);
  const broken = read.filter((each) => each instanceof ManifestError);
  const unreadable = broken.map(({ place, message }): Finding => {
    const at = { ...(place.file === undefined ? {} : { file: place.file }), line: place.line };
    return { level: 'error', rule: 'unreadable', message: withoutPlace(message), ...at };
  });
  return {
    manifests: read.filter((each): each is Manifest => !(each instanceof ManifestError)),
    findings: [...findings, ...unreadable],
    files,
  };
}
