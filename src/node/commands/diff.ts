/**
 * The command `orchplane diff`: shows what `orchplane apply` would change.
 */
import { applyManifests, definesKind, isCrd } from '../../manifests/apply.js';
import type { Manifest } from '../../manifests/read.js';
import { withoutCopies } from '../../manifests/redact.js';
import type { Dialect } from '../../meta/dialect.js';
import { formatDiff } from '../../meta/format-diff.js';
import { isRecord } from '../../util/json.js';
import { APPLY_OPTIONS, applySettings, refusePositionals, reportProblems } from './apply.js';
import { defineCommand } from './command.js';
import { checkNamespaces, readManifestOption } from './manifest-input.js';
import { manifestTarget } from './manifest-target.js';
import { CLUSTER_OPTIONS, openCluster } from './open-cluster.js';
import { hasColours } from './output.js';

export const command = defineCommand({
  usage: ['diff -f FILE… [options]'],
  summary:
    'Shows what "orchplane apply" would change, as a unified diff of the live objects and of the results of a dry run. The exit code is 0 if there are no differences, 1 if there are some, 2 if the server rejects an object.',
  options: { ...APPLY_OPTIONS, ...CLUSTER_OPTIONS },
  async run({ values, positionals }, environment) {
    refusePositionals(positionals);
    const manifests = await readManifestOption(values, environment);
    checkNamespaces(manifests, values.namespace);
    await using cluster = await openCluster(values, environment);
    const target = await manifestTarget(cluster);
    const isServed = ({ apiVersion, kind }: Manifest): boolean =>
      target.kinds().some((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
    // A dry run of a CRD defines no kind, so objects of its kind are shown as they are.
    const crds = manifests.filter(isCrd);
    const isDefinedHere = (manifest: Manifest): boolean =>
      !isServed(manifest) && crds.some((crd) => definesKind(crd, manifest));
    const others = manifests.filter((manifest) => !isDefinedHere(manifest));
    const namespace = values.namespace ?? cluster.namespace;
    const report = await applyManifests(target, others, { ...applySettings(values), namespace, dryRun: true });
    const pairs = [
      ...report.map((each) => (each.outcome === 'failed' ? [] : [each.previous, each.object])),
      ...manifests.filter(isDefinedHere).map(({ body }) => [undefined, body.read().value as object]),
    ];
    const colour = hasColours(environment);
    const diffs = pairs
      .map(([before, after]) => formatDiff(...withoutSecrets(before, after, target.dialect), { colour }))
      .filter((text) => text !== '');
    for (const text of diffs) environment.writeOut(`${text}\n`);
    if (reportProblems(report, environment) === 1) return 2;
    return diffs.length === 0 ? 0 : 1;
  },
});

type Fields = Readonly<Record<string, unknown>>;

/** Diffs end up in logs, so the values of Secrets are masked; whether they differ is visible. */
function withoutSecrets(
  before: object | undefined,
  after: object | undefined,
  dialect: Dialect,
): [object | undefined, object | undefined] {
  const { kind, apiVersion } = (after ?? {}) as Fields;
  if (after === undefined || kind !== 'Secret' || apiVersion !== 'v1') return [before, after];
  const both = before === undefined ? [after] : [before, after];
  const rest = withoutCopies(after, dialect, both) as Fields;
  const old = withoutCopies(before ?? {}, dialect, both) as Fields;
  const masked = (values: unknown, others: unknown, mark: string): object =>
    Object.fromEntries(
      Object.entries(isRecord(values) ? values : {}).map(([key, value]) => [
        key,
        isRecord(others) && others[key] === value ? '***' : mark,
      ]),
    );
  const annotationsOf = (object: unknown): Fields => {
    const { metadata } = (object ?? {}) as Fields;
    return isRecord(metadata) && isRecord(metadata['annotations']) ? metadata['annotations'] : {};
  };
  /** Annotations that were redacted and that differ. */
  const marked = (object: Fields, original: unknown, other: unknown, mark: string): Fields => {
    const [own, others] = [annotationsOf(original), annotationsOf(other)];
    const changed = Object.entries(annotationsOf(object)).filter(
      ([key, value]) => value !== own[key] && own[key] !== others[key],
    );
    if (changed.length === 0) return object;
    const annotations = { ...annotationsOf(object), ...Object.fromEntries(changed.map(([key]) => [key, mark])) };
    return { ...object, metadata: { ...(object['metadata'] as Fields), annotations } };
  };
  const hide = (object: Fields, data: object): object => ('data' in object ? { ...object, data } : object);
  return [
    before && hide(marked(old, before, after, '*** (before)'), masked(old['data'], rest['data'], '*** (before)')),
    hide(marked(rest, after, before, '*** (after)'), masked(rest['data'], old['data'], '*** (after)')),
  ];
}
