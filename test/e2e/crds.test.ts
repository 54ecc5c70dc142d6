/**
 * CRDs modelled on well-known projects, all installed in one cluster. Each file of CRDs has samples: valid objects,
 * and invalid changes to them with every cause that the reference server's validation reports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../src/cluster/cluster.js';
import { createCluster } from '../../src/cluster/full-cluster.js';
import { yamlDocumentBody } from '../../src/codec/yaml.js';
import { createFetchHandler } from '../../src/http/index.js';
import { CustomResourceDefinition } from '../../src/kinds/index.js';
import { applyYaml } from '../../src/manifests/apply-yaml.js';
import { type DynamicInput, type DynamicKind, installYaml } from '../../src/manifests/install-yaml.js';
import { StatusError } from '../../src/meta/errors.js';
import { isRecord } from '../../src/util/json.js';

const folder = new URL('../fixtures/crds/', import.meta.url);
const projects = readdirSync(folder)
  .filter((file) => file.endsWith('.samples.yaml'))
  .map((file) => file.slice(0, -'.samples.yaml'.length));

interface Sample extends DynamicInput {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/** A changed sample. */
interface Variant {
  readonly why: string;
  /** The index of the sample; the first one by default. */
  readonly of?: number;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly unset?: readonly string[];
  /** All causes of the rejection as `field: message`; absent if the object is valid. */
  readonly refused?: readonly string[];
}

interface Samples {
  readonly good: readonly Sample[];
  readonly broken: readonly Variant[];
  /** Updates of existing samples. */
  readonly changed?: readonly Variant[];
}

const textOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const samplesOf = (project: string) => yamlDocumentBody(textOf(`${project}.samples.yaml`)).read().value as Samples;

let cluster: Cluster;
const definitions = new Map<string, readonly DynamicKind[]>();

beforeAll(async () => {
  cluster = createCluster({ dialect: 'kubernetes' });
  for (const project of projects) definitions.set(project, await installYaml(cluster, textOf(`${project}.yaml`)));
}, 60_000);
afterAll(() => cluster.close());

test('installs twenty projects and serves all their kinds', () => {
  expect(projects.length).toBeGreaterThanOrEqual(20);
  const kinds = [...definitions.values()].flat();
  expect(kinds.length).toBeGreaterThanOrEqual(25);
  for (const kind of kinds) expect(cluster.kinds().map((served) => served.kind)).toContain(kind);
});

describe.each(projects)('the CRDs of %s', (project) => {
  const { good, broken, changed = [] } = samplesOf(project);

  test.each(good.map((sample) => [sample.kind, sample.metadata.name, sample] as const))(
    'accepts %s %s and keeps every field',
    async (_kind, _name, sample) => {
      const api = cluster.api(kindOf(sample));
      const made = await api.create(sample, { fieldValidation: 'Strict' });
      expect(made).toMatchObject({ apiVersion: sample.apiVersion, kind: sample.kind });
      const sent = hasStatus(sample) ? { ...sample, status: undefined } : sample;
      expect(without(made, sent)).toEqual([]);
      expect(await api.get(sample.metadata.name)).toEqual(made);
    },
  );

  test.each(broken.map((variant) => [variant.why, variant] as const))('rejects an object: %s', async (_, variant) => {
    const { metadata, ...rest } = changedSample(good, variant);
    const object = { ...rest, metadata: { ...metadata, name: 'broken' } };
    const causes = await causesOf(cluster.api(kindOf(object)).create(object));
    expect(causes).toEqual(variant.refused);
  });

  test.each(changed.map((variant) => [variant.why, variant] as const))(
    'accepts or rejects an update: %s',
    async (_, variant) => {
      const object = changedSample(good, variant);
      const api = cluster.with({ dryRun: true }).api(kindOf(object));
      const { resourceVersion } = (await api.get(object.metadata.name)).metadata;
      const update = api.update({ ...object, metadata: { ...object.metadata, resourceVersion } } as Sample);
      expect(await causesOf(update)).toEqual(variant.refused ?? 'accepted');
    },
  );

  test('applies all samples repeatedly', async () => {
    const text = good.map((sample) => JSON.stringify(sample)).join('\n---\n');
    const options = { fieldManager: 'ci', force: true };
    const first = await applyYaml(cluster, text, options);
    expect(first.map(({ outcome }) => outcome)).toEqual(good.map(() => 'configured'));
    const again = await applyYaml(cluster, text, options);
    expect(again.map(({ outcome }) => outcome)).toEqual(good.map(() => 'unchanged'));
    for (const applied of first) {
      if (applied.outcome === 'failed') throw applied.error;
      expect(applied.object.metadata.managedFields?.map(({ manager }) => manager)).toContain('ci');
    }
  });

  test('prints tables with the columns of the CRDs', async () => {
    const handle = createFetchHandler(cluster);
    for (const sample of good) {
      const { gvr, namespaced, kind } = servedFor(sample);
      const place = namespaced ? 'namespaces/default/' : '';
      const url = `http://cluster/apis/${gvr.group}/${gvr.version}/${place}${gvr.resource}/${sample.metadata.name}`;
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
      const table = (await (await handle(new Request(url, { headers }))).json()) as {
        columnDefinitions: { name: string }[];
        rows: { cells: unknown[] }[];
      };
      const { spec } = await cluster.api(CustomResourceDefinition).get(`${gvr.resource}.${gvr.group}`);
      const version = spec.versions.find(({ name }) => name === kind.version);
      const columns = version?.additionalPrinterColumns?.map(({ name }) => name) ?? ['Age'];
      expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', ...columns]);
      expect(table.rows.map(({ cells }) => cells.length)).toEqual([columns.length + 1]);
      expect(table.rows[0]?.cells[0]).toBe(sample.metadata.name);
    }
  });

  test('deletes the CRDs and their objects', async () => {
    for (const sample of good) {
      const api = cluster.api(kindOf(sample));
      // No controller removes the finalizers.
      await api.edit(sample.metadata.name, (draft) => {
        delete draft.metadata.finalizers;
      });
      await api.delete(sample.metadata.name);
      expect(await api.find(sample.metadata.name)).toBeUndefined();
    }
    const crds = cluster.api(CustomResourceDefinition);
    for (const { names, group, kind } of definitions.get(project) ?? []) {
      const name = `${names.plural}.${group}`;
      await crds.delete(name);
      await crds.waitFor(name, (definition) => definition === undefined, { timeoutMs: 5_000 });
      expect(cluster.kinds().filter(({ gvk }) => gvk.group === group && gvk.kind === kind)).toEqual([]);
    }
  });
});

function servedFor({ apiVersion, kind }: Pick<Sample, 'apiVersion' | 'kind'>) {
  const served = cluster.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  if (served === undefined) throw new Error(`${kind} in ${apiVersion} is not served`);
  return served;
}

const kindOf = (sample: Pick<Sample, 'apiVersion' | 'kind'>) => servedFor(sample).kind as DynamicKind;
const hasStatus = (sample: Sample) => 'status' in kindOf(sample).subresources;

/** Every cause as `field: message`. */
async function causesOf(write: Promise<unknown>): Promise<readonly string[] | 'accepted'> {
  try {
    await write;
    return 'accepted';
  } catch (error) {
    if (!StatusError.is(error, 'Invalid')) throw error;
    return (error.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
  }
}

function changedSample(good: readonly Sample[], { of = 0, set = {}, unset = [] }: Variant): Sample {
  const sample = structuredClone(good[of]) as Sample;
  for (const path of unset) change(sample, stepsOf(path), undefined);
  for (const [path, value] of Object.entries(set)) change(sample, stepsOf(path), value);
  return sample;
}

const stepsOf = (path: string) => path.match(/[^.[\]]+/g) ?? [];

/** Sets a value at a path, creating objects on the way; undefined deletes it. */
function change(holder: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0 && value === undefined) delete holder[step];
  else if (rest.length === 0) holder[step] = value;
  else {
    holder[step] ??= {};
    change(holder[step] as Record<string, unknown>, rest, value);
  }
}

/** The paths that were sent and are missing in the stored object, except null values. */
function without(made: unknown, sent: unknown, path = ''): string[] {
  if (sent === null || sent === undefined) return [];
  if (Array.isArray(sent)) {
    if (!Array.isArray(made)) return [path];
    return sent.flatMap((item, index) => without(made[index], item, `${path}[${index}]`));
  }
  if (!isRecord(sent)) return Object.is(made, sent) ? [] : [path];
  return Object.keys(sent).flatMap((key) =>
    without(isRecord(made) ? made[key] : undefined, sent[key], `${path}.${key}`),
  );
}
