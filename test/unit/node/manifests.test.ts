/** loadManifests: documents, lists, places in messages, order and outcomes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../src/http/index.js';
import { ConfigMap, Namespace, Pod } from '../../../src/kinds/index.js';
import { type LoadOptions, loadManifests, readManifestFiles } from '../../../src/node/index.js';

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

  test('owns the fields it applies, so that repeating it changes nothing', async () => {
    const cluster = createCluster();
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n';
    await loadManifests(cluster, [{ name: 'm', text }], { fieldManager: 'ci', namespace: 'kube-system' });
    const before = cluster.resourceVersion;
    const again = await loadManifests(cluster, [{ name: 'm', text }], { fieldManager: 'ci', namespace: 'kube-system' });
    expect(again).toMatchObject([{ outcome: 'unchanged', namespace: 'kube-system', name: 'a' }]);
    expect(cluster.resourceVersion).toBe(before);
    const { managedFields } = (await cluster.api(ConfigMap, 'kube-system').get('a')).metadata;
    expect(managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([['ci', 'Apply']]);
  });

  test('leaves the fields of other managers alone unless it is forced', async () => {
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

  test('reads JSON manifests', async () => {
    const cluster = createCluster();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } };
    const list = { apiVersion: 'v1', kind: 'NamespaceList', metadata: {}, items: [namespace] };
    expect(await load(cluster, JSON.stringify(list, null, 2))).toMatchObject([{ outcome: 'created', name: 'team' }]);
    expect((await cluster.api(Namespace).get('team')).metadata.name).toBe('team');
  });

  test('reads consecutive JSON documents with braces in their strings', async () => {
    const cluster = createCluster();
    const document = (name: string, space?: number) =>
      JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { odd: '}{"\\' } }, null, space);
    const text = `${document('a')}\n${document('b', 2)}\n\n${document('c')}\n`;
    await loadManifests(cluster, [{ name: 'all.json', text }]);
    const names = (await cluster.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(['a', 'b', 'c']);
    const [cut] = await load(createCluster(), `${document('a')}\n{"kind": `, 'cut.json');
    expect(cut).toMatchObject({ error: { message: expect.stringContaining('cut.json:2 (document 2)') } });
  });

  test('reads JSON with characters and escapes that YAML changes or rejects', async () => {
    const cluster = createCluster();
    const data = { a: 'x\u0085y\u2028\u007f\u009f\ufeff', b: 'smile' };
    const text = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data });
    await loadManifests(cluster, [{ name: 'm.json', text: text.replace('smile', '\\ud83d\\ude00') }]);
    expect((await cluster.api(ConfigMap).get('m')).data).toEqual({ ...data, b: '😀' });
    const repeated = text.replace('"data":{', '"data":{"b":"",').replace('"m"', '"n"');
    expect(await load(cluster, repeated)).toMatchObject([{ error: { message: expect.stringContaining('key "b"') } }]);
  });

  test('reports file, line and document of an unreadable text and then applies nothing', async () => {
    const cluster = createCluster();
    const before = cluster.resourceVersion;
    const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: ok}\n---\napiVersion: v1\nkind: [\n';
    const [failed, ...others] = await load(cluster, text);
    expect(others).toEqual([]);
    expect(failed).toMatchObject({ outcome: 'failed', place: 'm.yaml:6 (document 2)' });
    // Parse errors have the line numbers of the file.
    expect(messageOf(failed)).toMatch(/^m\.yaml:6 \(document 2\): error converting YAML to JSON: yaml: line [67]: /);
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
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}', 'metadata.name is a boolean (true); put it in quotes'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 1.10}', 'metadata.name is a number (1.1); put it in quotes'],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: on}', 'metadata.namespace is a boolean (true)'],
    ['apiVersion: 1\nkind: ConfigMap\nmetadata: {name: a}', 'apiVersion is a number (1)'],
    ['apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]', 'is for kustomize'],
    ['apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}', 'is served; did you mean Deployment?'],
    ['apiVersion: v1\nkind: configmap\nmetadata: {name: a}', 'is served; did you mean ConfigMap?'],
    ['apiVersion: v1\nkind: Deployments\nmetadata: {name: a}', 'did you mean Deployment in apps/v1?'],
    ['apiVersion: v1\nkind: Deployment\nmetadata: {name: a}', 'in v1 is served; Deployment is served in apps/v1'],
    ['apiVersion: v1\nkind: Nonsense\nmetadata: {name: a}', 'no kind Nonsense in v1 is served'],
    ['apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}', 'no kind of that group is defined here'],
    [
      'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: a}',
      'no kind of that group is defined here',
    ],
    [
      'apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: a}',
      "runtimeConfig: 'resource.k8s.io/v1beta1=true' enables",
    ],
    [
      'apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: a}',
      'in the dialect kubernetes; this cluster uses orch, where it is coordination.orch.io/v1',
    ],
  ])('reports for the manifest %j: %s', async (text, problem) => {
    const [failed] = await load(createCluster(), text);
    expect(failed?.outcome).toBe('failed');
    expect(messageOf(failed)).toContain(problem);
    expect(messageOf(failed)).toMatch(/^m\.yaml:1 \(document 1/);
  });

  test('suggests no kind for a name that resembles no kind', async () => {
    const [failed] = await load(createCluster(), 'apiVersion: v1\nkind: Nonsense\nmetadata: {name: a}');
    expect(messageOf(failed)).toMatch(/is served$/);
  });

  test('recognizes a kustomization without a type by its file name', async () => {
    const [failed] = await load(createCluster(), 'resources: [a.yaml]\n', 'deploy/kustomization.yaml');
    expect(messageOf(failed)).toContain('is for kustomize, which does not run here');
  });

  test('loads lists that a server returned, whose items have no type', async () => {
    const origin = createCluster();
    await load(origin, TEAM);
    const cluster = createCluster();
    for (const path of ['/api/v1/namespaces', '/api/v1/configmaps', '/api/v1/pods']) {
      const response = await createFetchHandler(origin)(new Request(`http://cluster${path}`));
      const text = await response.text();
      expect(text).toContain('"managedFields"');
      for (const each of await load(cluster, text))
        expect([messageOf(each), each.outcome]).toEqual(['', expect.anything()]);
    }
    const [was, is] = [await origin.api(Pod).list(), await cluster.api(Pod).list()];
    expect(is.items.map(({ metadata, spec }) => [metadata.name, spec])).toEqual(
      was.items.map(({ metadata, spec }) => [metadata.name, spec]),
    );
    expect(is.items[0]?.metadata.uid).not.toBe(was.items[0]?.metadata.uid);
    expect((await cluster.api(ConfigMap, 'team').get('a')).data).toEqual({ flag: 'yes' });
  });

  test('keeps the type of an item in a list', async () => {
    const text = 'apiVersion: v1\nkind: ConfigMapList\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: a}}]';
    expect(await load(createCluster(), text)).toMatchObject([{ outcome: 'created', kind: 'Secret' }]);
    const untyped = 'apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]';
    expect(messageOf((await load(createCluster(), untyped))[0])).toContain('apiVersion is missing');
  });

  test('rejects unknown options', async () => {
    const options = { fieldManger: 'ci' } as LoadOptions;
    await expect(loadManifests(createCluster(), [], options)).rejects.toThrow(
      'loadManifests has no option "fieldManger"; it has fieldManager, force, namespace',
    );
    expect(await loadManifests(createCluster(), [], { namespace: undefined })).toEqual([]);
  });

  test('continues after an object that was rejected', async () => {
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

  test('reads files, folders and standard input in order', async () => {
    const names = [join(folder, 'notes.txt'), '-', folder];
    expect(await readManifestFiles(names, Readable.from(['from ', 'afar']))).toEqual([
      { name: join(folder, 'notes.txt'), text: 'notes.txt' },
      { name: 'stdin', text: 'from afar' },
      { name: join(folder, 'a.yaml'), text: 'a.yaml' },
      { name: join(folder, 'b.yml'), text: 'b.yml' },
      { name: join(folder, 'c.JSON'), text: 'c.JSON' },
    ]);
  });

  test('reads subfolders on request', async () => {
    await writeFile(join(folder, 'deeper', 'd.yaml'), 'd');
    const read = await readManifestFiles([folder], Readable.from([]), { recursive: true });
    expect(read.map(({ name }) => name)).toEqual(
      ['a.yaml', 'b.yml', 'c.JSON', 'deeper/d.yaml'].map((name) => join(folder, name)),
    );
    await rm(join(folder, 'deeper', 'd.yaml'));
  });

  test('rejects files that do not exist', async () => {
    await expect(readManifestFiles([join(folder, 'nope')])).rejects.toThrow('ENOENT');
    await expect(readManifestFiles([join(folder, 'deeper')])).rejects.toThrow('holds no .yaml');
    await expect(readManifestFiles(['-', '-'])).rejects.toThrow('only once');
  });
});

function messageOf(loaded: Awaited<ReturnType<typeof loadManifests>>[number] | undefined): string {
  return loaded?.outcome === 'failed' ? loaded.error.message : '';
}

describe('loadManifests with a dump', () => {
  const DUMP = `
apiVersion: v1
kind: Pod
metadata: { name: web }
spec: { containers: [{ name: a, image: a }] }
status: { phase: Running, podIP: 10.1.2.3 }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
`;
  const texts = [{ name: 'dump.yaml', text: DUMP }];

  test('writes the status only on request', async () => {
    const plain = createCluster();
    await loadManifests(plain, texts);
    expect((await plain.api(Pod).get('web')).status.phase).toBe('Pending');

    const cluster = createCluster();
    const loaded = await loadManifests(cluster, texts, { keepStatus: true });
    expect((await cluster.api(Pod).get('web')).status).toMatchObject({ phase: 'Running', podIP: '10.1.2.3' });
    expect(loaded).toMatchObject([
      { outcome: 'created', object: { status: { phase: 'Running' } } },
      { name: 'settings' },
    ]);
  });

  test('reports a status that the server rejects', async () => {
    const text = DUMP.replace('10.1.2.3', 'nowhere').replace('podIP', 'hostIP: 10.1.2.4, podIP');
    const [pod] = await loadManifests(createCluster(), [{ name: 'dump.yaml', text }], { keepStatus: true });
    expect(pod?.outcome === 'failed' && pod.error.message).toMatch(
      /^dump.yaml:2 \(document 1\): the status of Pod web: /,
    );
  });

  test('creates objects', async () => {
    const cluster = createCluster();
    expect((await loadManifests(cluster, texts, { mode: 'create' })).map(({ outcome }) => outcome)).toEqual([
      'created',
      'created',
    ]);
    const again = await loadManifests(cluster, texts, { mode: 'create' });
    expect(again.map((each) => each.outcome === 'failed' && each.error.message)).toEqual([
      'dump.yaml:2 (document 1): Pod default/web: pods "web" already exists',
      'dump.yaml:8 (document 2): ConfigMap default/settings: configmaps "settings" already exists',
    ]);
  });

  test.each([[{ mode: 'replace' }], [{ keepStatus: 'yes' }]])('refuses %o', async (options) => {
    await expect(loadManifests(createCluster(), texts, options as LoadOptions)).rejects.toThrow(TypeError);
  });
});
