/** Manifests: documents, lists, places in messages, order, and what the cluster makes of them. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/full-cluster.js';
import { ConfigMap, Namespace, Pod } from '../../../src/kinds/index.js';
import { loadManifests, readManifestFiles } from '../../../src/node/index.js';

const TEAM = `# The team's settings come before the team.
apiVersion: v1
kind: ConfigMap
metadata: { name: a, namespace: team }
data: { flag: "yes" }
---
# Nothing here.
---
apiVersion: v1
kind: Namespace
metadata:
  name: team
...
---
apiVersion: v1
kind: List
items:
- { apiVersion: v1, kind: ConfigMap, metadata: { name: b } }
- { apiVersion: v1, kind: Pod, metadata: { generateName: p- }, spec: { containers: [{ name: c, image: i }] } }
`;

const load = (cluster: ReturnType<typeof createCluster>, text: string, name = 'm.yaml') =>
  loadManifests(cluster, [{ name, text }]);

describe('loadManifests', () => {
  test('applies documents and the items of lists, namespaces first', async () => {
    const cluster = createCluster();
    const loaded = await load(cluster, TEAM);
    expect(loaded).toEqual([
      expect.objectContaining({ place: 'm.yaml:9 (document 2)', outcome: 'created', kind: 'Namespace', name: 'team' }),
      expect.objectContaining({ place: 'm.yaml:2 (document 1)', kind: 'ConfigMap', namespace: 'team', name: 'a' }),
      expect.objectContaining({ place: 'm.yaml:15 (document 3, item 1)', namespace: 'default', name: 'b' }),
      expect.objectContaining({ kind: 'Pod', name: expect.stringMatching(/^p-.{5}$/) }),
    ]);
    expect((await cluster.api(ConfigMap, 'team').get('a')).data).toEqual({ flag: 'yes' });
    expect((await cluster.api(Pod).list()).items).toHaveLength(1);
  });

  test('owns what it applies, so doing it again changes nothing', async () => {
    const cluster = createCluster();
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n';
    await loadManifests(cluster, [{ name: 'm', text }], { fieldManager: 'ci', namespace: 'kube-system' });
    const before = cluster.resourceVersion;
    const again = await loadManifests(cluster, [{ name: 'm', text }], { fieldManager: 'ci', namespace: 'kube-system' });
    expect(again).toMatchObject([{ outcome: 'applied', namespace: 'kube-system', name: 'a' }]);
    expect(cluster.resourceVersion).toBe(before);
    const { managedFields } = (await cluster.api(ConfigMap, 'kube-system').get('a')).metadata;
    expect(managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([['ci', 'Apply']]);
  });

  test('leaves fields of others alone unless it is to force', async () => {
    const cluster = createCluster();
    const text = (value: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: ${value}\n`;
    await loadManifests(cluster, [{ name: 'm', text: text('one') }], { fieldManager: 'first' });
    const refused = await loadManifests(cluster, [{ name: 'm', text: text('two') }], { fieldManager: 'second' });
    expect(refused).toMatchObject([{ outcome: 'failed' }]);
    const options = { fieldManager: 'second', force: true };
    await loadManifests(cluster, [{ name: 'm', text: text('two') }], options);
    expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ k: 'two' });
  });

  test('reads JSON too', async () => {
    const cluster = createCluster();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    const list = { apiVersion: 'v1', kind: 'NamespaceList', metadata: {}, items: [namespace] };
    expect(await load(cluster, JSON.stringify(list, null, 2))).toMatchObject([{ outcome: 'created', name: 'team' }]);
    expect((await cluster.api(Namespace).get('team')).metadata.name).toBe('team');
  });

  test('names file, line and document of what cannot be read, and applies nothing then', async () => {
    const cluster = createCluster();
    const before = cluster.resourceVersion;
    const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: ok}\n---\napiVersion: v1\nkind: [\n';
    const [failed, ...others] = await load(cluster, text);
    expect(others).toEqual([]);
    expect(failed).toMatchObject({ outcome: 'failed', place: 'm.yaml:5 (document 2)' });
    // The reader counts lines as the file does.
    expect(messageOf(failed)).toMatch(/^m\.yaml:5 \(document 2\): error converting YAML to JSON: yaml: line [67]: /);
    expect(cluster.resourceVersion).toBe(before);
  });

  test.each([
    ['kind: ConfigMap\nmetadata: {name: a}', 'apiVersion is missing'],
    ['apiVersion: v1\nmetadata: {name: a}', 'kind is missing'],
    ['apiVersion: v1\nkind: ConfigMap', 'ConfigMap has neither metadata.name nor metadata.generateName'],
    ['apiVersion: v1\nkind: List\nitems: [1]', 'is not an object'],
    ['apiVersion: v2\nkind: ConfigMap\nmetadata: {name: a}', 'no kind ConfigMap in v2 is served'],
    ['apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}', 'cluster-scoped and takes no namespace'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: gone}', 'namespaces "gone" not found'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}', 'ConfigMap default/A: '],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndta: {}', 'dta'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nmetadata: {name: a}', 'metadata'],
    ['- a', 'cannot unmarshal array'],
  ])('%j: %s', async (text, problem) => {
    const [failed] = await load(createCluster(), text);
    expect(failed?.outcome).toBe('failed');
    expect(messageOf(failed)).toContain(problem);
    expect(messageOf(failed)).toMatch(/^m\.yaml:1 \(document 1/);
  });

  test('goes on after an object that was refused', async () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A}\n---\n${TEAM}`;
    const loaded = await load(createCluster(), text);
    expect(loaded.map(({ outcome }) => outcome)).toEqual(['created', 'failed', 'created', 'created', 'created']);
  });
});

describe('readManifestFiles', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orchplane-manifests-'));
    await mkdir(join(folder, 'deeper'));
    for (const name of ['b.yml', 'a.yaml', 'c.JSON', 'notes.txt']) await writeFile(join(folder, name), name);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('reads files, folders and standard input, in order', async () => {
    const names = [join(folder, 'notes.txt'), '-', folder];
    expect(await readManifestFiles(names, Readable.from(['from ', 'afar']))).toEqual([
      { name: join(folder, 'notes.txt'), text: 'notes.txt' },
      { name: 'stdin', text: 'from afar' },
      { name: join(folder, 'a.yaml'), text: 'a.yaml' },
      { name: join(folder, 'b.yml'), text: 'b.yml' },
      { name: join(folder, 'c.JSON'), text: 'c.JSON' },
    ]);
  });

  test('refuses what is not there', async () => {
    await expect(readManifestFiles([join(folder, 'nope')])).rejects.toThrow('ENOENT');
    await expect(readManifestFiles([join(folder, 'deeper')])).rejects.toThrow('holds no .yaml');
    await expect(readManifestFiles(['-', '-'])).rejects.toThrow('only once');
  });
});

function messageOf(loaded: Awaited<ReturnType<typeof loadManifests>>[number] | undefined): string {
  return loaded?.outcome === 'failed' ? loaded.error.message : '';
}
