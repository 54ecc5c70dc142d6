/**
 * captureCluster, its text formats, parseCapture, and clusters that start from a capture.
 */
import { createCluster, ManifestError } from 'orchplane';
import { ClusterRole, ConfigMap, Namespace, Pod, Secret } from 'orchplane/kinds';
import { captureCluster, captureJson, captureYaml, parseCapture, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { ClusterState } from '../../../src/storage/state.js';
import { encodeSorted } from '../../../src/util/json.js';
import fc from '../../property/seeded.js';

async function small() {
  const cluster = testCluster();
  await cluster.api(Namespace).create({ metadata: { name: 'team' } });
  await cluster.api(ConfigMap, 'team').create({ metadata: { name: 'web' }, data: { size: 'm', text: 'a\nb\n' } });
  await cluster.api(Secret).create({ metadata: { name: 'key' }, data: { key: 'c2VjcmV0' } });
  return cluster;
}

describe('captureCluster', () => {
  test('captures stored objects in order without unchanged initial objects', async () => {
    const cluster = await small();
    const state = captureCluster(cluster);
    expect(state.resourceVersion).toBe('7');
    expect(state.objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`)).toEqual([
      'Namespace /default',
      'Namespace /kube-node-lease',
      'Namespace /kube-public',
      'Namespace /kube-system',
      'Namespace /team',
      'Secret default/key',
      'ConfigMap team/web',
    ]);
    expect(state.objects[6]).toBe(await cluster.api(ConfigMap, 'team').get('web'));
  });

  test('captures namespaces before other objects without a namespace', async () => {
    const cluster = await small();
    await cluster.api(ClusterRole).create({ metadata: { name: 'reader' }, rules: [] });
    const kinds = captureCluster(cluster, { kinds: [ClusterRole, Namespace] }).objects.map(({ kind }) => kind);
    expect([...new Set(kinds)]).toEqual(['Namespace', 'ClusterRole']);
  });

  test('captures changed initial objects, and all of them with the initial option', async () => {
    const cluster = await small();
    await cluster.api(ClusterRole).edit('view', (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, mine: 'yes' };
    });
    const roles = captureCluster(cluster, { kinds: [ClusterRole] }).objects;
    expect(roles.map(({ metadata }) => metadata.name)).toEqual(['view']);
    const { items } = await cluster.api(ClusterRole).list();
    expect(captureCluster(cluster, { kinds: [ClusterRole], initial: true }).objects).toHaveLength(items.length);
  });

  test('filters by kinds and by namespace', async () => {
    const cluster = await small();
    const names = (options: Parameters<typeof captureCluster>[1]) =>
      captureCluster(cluster, options).objects.map(({ metadata }) => metadata.name);
    expect(names({ kinds: [Secret, ConfigMap] })).toEqual(['key', 'web']);
    expect(names({ namespace: 'team' })).toEqual(['team', 'web']);
    expect(names({ kinds: [ConfigMap], namespace: 'default' })).toEqual([]);
    expect(() => captureCluster(cluster, { kind: [] } as never)).toThrow(/kind/);
  });

  test('rejects an invalid kinds option', async () => {
    const cluster = await small();
    const wrong: [unknown, string][] = [
      [ConfigMap, 'kinds is a list of kinds such as [ConfigMap] of orchplane/kinds, not the kind ConfigMap'],
      [['ConfigMap'], 'orchplane/kinds, not ["ConfigMap"]'],
      [null, 'orchplane/kinds, not null'],
    ];
    for (const [kinds, message] of wrong) {
      expect(() => captureCluster(cluster, { kinds } as never)).toThrow(message);
      expect(() => captureCluster(cluster, { kinds } as never)).toThrow(TypeError);
    }
    expect(captureCluster(cluster, { kinds: [] }).objects).toEqual([]);
  });
});

describe('capture formats', () => {
  test('writes YAML with the resourceVersion in a comment and one document per object', async () => {
    const cluster = await small();
    const text = captureYaml(cluster, { kinds: [ConfigMap] });
    expect(text).toBe(`# A cluster captured by orchplane: testCluster({ from: parseCapture(text) }) starts from it.
# resourceVersion: 7
---
apiVersion: v1
data:
  size: m
  text: |
    a
    b
kind: ConfigMap
metadata:
  creationTimestamp: "2030-01-01T00:00:00Z"
  managedFields:
  - apiVersion: v1
    fieldsType: FieldsV1
    fieldsV1:
      f:data:
        .: {}
        f:size: {}
        f:text: {}
    manager: orchplane
    operation: Update
    time: "2030-01-01T00:00:00Z"
  name: web
  namespace: team
  resourceVersion: "6"
  uid: 00000000-0000-4000-8000-000000000006
`);
    expect(captureYaml(captureCluster(cluster, { kinds: [ConfigMap] }))).toBe(text);
    expect(() => captureYaml(captureCluster(cluster), { kinds: [] })).toThrow(TypeError);
  });

  test('parses YAML and JSON to the same state', async () => {
    const state = captureCluster(await small());
    for (const text of [captureYaml(state), captureJson(state), JSON.stringify(state)]) {
      const parsed = parseCapture(text);
      expect(parsed).toEqual(state);
      const copy = testCluster({ from: parsed });
      expect(captureCluster(copy)).toEqual(state);
      // Also compares the order of fields, which clients see.
      expect(JSON.stringify(captureCluster(copy))).toBe(JSON.stringify(state));
    }
  });

  test('continues with the next resourceVersion after a capture', async () => {
    const cluster = testCluster({ from: parseCapture(captureYaml(await small())) });
    expect((await cluster.api(ConfigMap).create({ metadata: { name: 'next' } })).metadata.resourceVersion).toBe('8');
  });

  test('captures a past version of a cluster', async () => {
    const cluster = await small();
    const then = captureYaml(cluster);
    await cluster.api(Secret).delete('key');
    expect(captureYaml(cluster.at('7'))).toBe(then);
    expect(captureYaml(cluster)).not.toBe(then);
  });
});

describe('strings in captures', () => {
  const written = (spec: unknown): ClusterState => ({
    resourceVersion: '7',
    objects: [
      {
        apiVersion: 'ex.io/v1',
        kind: 'Thing',
        metadata: { name: 'a', uid: 'u', resourceVersion: '7', creationTimestamp: '2030-01-01T00:00:00Z' },
        spec,
      } as ClusterState['objects'][number],
    ],
  });
  // Compared as JSON, which shows `__proto__` and distinguishes numbers from strings.
  const specOf = ({ objects }: ClusterState): string => {
    const [object] = objects as readonly { readonly spec?: unknown }[];
    return encodeSorted(object?.spec);
  };
  const survives = (spec: unknown): void => {
    const state = written(spec);
    const read = (text: string): string => specOf(parseCapture(text));
    expect([read(captureYaml(state)), read(captureJson(state))]).toEqual([encodeSorted(spec), encodeSorted(spec)]);
  };
  const controls = [...Array(0xa0).keys()].filter((code) => code < 0x20 || code >= 0x7f);
  const samples = [
    ...['__proto__', 'constructor', 'toString', '', ' ', '<<', '=', '- a', '-', '? x', '?', ': x', ':', 'a: b', 'a #b'],
    ...[
      'null',
      'Null',
      '~',
      'yes',
      'y',
      'on',
      'No',
      'true',
      '1',
      '1e3',
      '0x1f',
      '017',
      '0o17',
      '1_000',
      '.inf',
      '-.INF',
    ],
    ...[
      '.nan',
      '1:30',
      '2030-01-01',
      '2030-01-01T00:00:00Z',
      '---',
      '...',
      '--- a',
      '%TAG',
      '@a',
      '`a',
      '!a',
      '&a',
      '*a',
    ],
    ...[
      '{a',
      '[a',
      '{}',
      '|',
      '>',
      '"a"',
      "'a'",
      'a\\b',
      '\ta',
      'a\t',
      'a ',
      ' a',
      'a  ',
      '\n',
      '\n\na',
      'a\n',
      'a\n\n',
    ],
    ...[' a\nb', '\n a', 'a \nb', 'a\n b', 'a\r\nb', 'a\rb', '\t\na', 'a\n---\nb', 'a\n...\nb', 'a\n# b', '# a\nb'],
    ...[
      '\u2028',
      'a\u2028b',
      'a\u2029 b',
      '\u2028---\u2028',
      '\ufeff',
      '\ufeffa',
      'a\ufeff',
      'a\n\ufeff---\nb',
      '\ufffe',
      '\uffff',
    ],
    ...['😀', 'é', 'a\u00a0b', 'sample '.repeat(200), 'x'.repeat(5000), `${'two  '.repeat(60)}\t${'- a '.repeat(60)}`],
    ...controls.flatMap((code) => [String.fromCharCode(code), `a${String.fromCharCode(code)} b\n`]),
  ];

  test('preserves special strings as values, items and keys', () => {
    for (const sample of samples) {
      survives({ value: sample, items: [sample, [sample]], last: sample });
      survives(
        Object.fromEntries([
          ['a', 1],
          [sample, { [`${sample}1`]: sample }],
          ['z', 1],
        ]),
      );
    }
    survives(Object.fromEntries(samples.map((sample) => [sample, sample])));
  });

  test('preserves random strings', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'ab1 -:#\'"\\\n\r\t.,[{?!|~<\u0085\u2028\ufeff\0\x7f😀'), maxLength: 120 }),
      fc.constantFrom(...samples.filter(({ length }) => length <= 100)),
    );
    fc.assert(fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text), fc.dictionary(text, text))), survives), {
      numRuns: 300,
    });
  });

  test('replaces lone surrogates', () => {
    const state = written({ a: 'a\ud800b', '\udc00': '😀' });
    for (const text of [captureYaml(state), captureJson(state), JSON.stringify(state)]) {
      expect(specOf(parseCapture(text))).toBe(encodeSorted({ a: 'a\ufffdb', '\ufffd': '😀' }));
    }
  });

  test('preserves numbers', () => {
    survives({ a: 9007199254740993n, b: -9007199254740993n, c: 1.5, d: 1e300, e: 0, f: 18446744073709551615n });
  });

  test('quotes the merge key only as a key', () => {
    expect(captureYaml(written({ '<<': '<<' }))).toContain("spec:\n  '<<': <<\n");
  });
});

describe('kubectl dumps', () => {
  const pod = `
  metadata:
    name: web
    namespace: default
    creationTimestamp: "2024-05-01T10:00:00Z"
    resourceVersion: "812345"
    uid: 3f0c0d1e-8f5a-4c3e-9a51-0d4f3f1b2a3c
  spec:
    containers: [{ image: nginx, name: c }]
    nodeName: n1
  status: { phase: Running }
`;
  test('parses a List of kubectl get -o yaml', async () => {
    const text = `apiVersion: v1
items:
- apiVersion: v1
  kind: Pod${pod}kind: List
metadata:
  resourceVersion: ""
`;
    const state = parseCapture(text);
    expect(state.resourceVersion).toBe('812345');
    const cluster = createCluster({ dialect: 'kubernetes', from: state });
    const found = await cluster.api(Pod).get('web');
    expect(found.status?.phase).toBe('Running');
    expect(found.metadata).toMatchObject({ uid: '3f0c0d1e-8f5a-4c3e-9a51-0d4f3f1b2a3c', resourceVersion: '812345' });
    expect(Object.keys(found)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
    expect(Number(cluster.resourceVersion)).toBe(812_345);
  });

  test('parses typed lists, JSON, several documents and nested lists', () => {
    const item = { metadata: { name: 'a', namespace: 'default', resourceVersion: '7', uid: 'u' } };
    const typed = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '9' }, items: [item] };
    const single = { apiVersion: 'v1', kind: 'Secret', metadata: { ...item.metadata, name: 'b' } };
    const nested = { apiVersion: 'v1', kind: 'List', items: [typed, single] };
    const kinds = (text: string) => parseCapture(text).objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds(JSON.stringify(typed))).toEqual(['ConfigMap a']);
    expect(parseCapture(JSON.stringify(typed)).resourceVersion).toBe('9');
    expect(kinds(JSON.stringify(nested, undefined, 2))).toEqual(['ConfigMap a', 'Secret b']);
    expect(kinds(`${JSON.stringify(single)}\n${JSON.stringify(typed)}`)).toEqual(['Secret b', 'ConfigMap a']);
    expect(kinds(`---\n# nothing\n---\n${JSON.stringify(single)}\n---\n`)).toEqual(['Secret b']);
    expect(parseCapture('')).toEqual({ resourceVersion: '0', objects: [] });
  });

  test('parses JSON as JSON also between YAML documents and comments', () => {
    const object = (name: string, text: string) =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"text":"${text}"}}`;
    const texts = (text: string) => parseCapture(text).objects.map((each) => (each as { data?: unknown }).data);
    const [one, two] = [object('a', '\u0085}{\\"'), object('b', '\u007f\\/')];
    const [first, second] = [{ text: '\u0085}{"' }, { text: '\u007f/' }];
    expect(texts(one)).toEqual([first]);
    expect(texts(`\ufeff \t\r\n${one}\n`)).toEqual([first]);
    expect(texts(one + two)).toEqual([first, second]);
    expect(texts(`# comment\n---\n${one}\n--- ${two}\n...\n`)).toEqual([first, second]);
    // The last of repeated keys counts, as in YAML.
    expect(texts(object('a', 'x","text":"y'))).toEqual([{ text: 'y' }]);
    expect(() => parseCapture(`\n${one}\n\n{"apiVersion":"v1"}`)).toThrow('line 4 (document 2): kind is missing');
    expect(() => parseCapture(`[${one}]`)).toThrow('line 1 (document 1): is not an object');
    // YAML flow collections start like JSON.
    expect(texts('{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {text: x}}')).toEqual([{ text: 'x' }]);
    expect(texts(`${object('a', 'x')}\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: b }\n`)).toHaveLength(2);
    expect(() => parseCapture('{"a": [')).toThrow(ManifestError);
  });

  test('fills in missing fields deterministically', () => {
    const text = `
apiVersion: v1
kind: ConfigMap
metadata: { name: a, namespace: default, resourceVersion: "", selfLink: /x, creationTimestamp: null }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: b, namespace: default, resourceVersion: "40" }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: c, namespace: default }
`;
    const state = parseCapture(text);
    expect(parseCapture(text)).toEqual(state);
    expect(state.resourceVersion).toBe('42');
    expect(state.objects.map(({ metadata }) => metadata.resourceVersion)).toEqual(['41', '40', '42']);
    expect(new Set(state.objects.map(({ metadata }) => metadata.uid)).size).toBe(3);
    expect(state.objects[0]?.metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: '41',
      creationTimestamp: '1970-01-01T00:00:00Z',
    });
    expect(testCluster({ from: state }).resourceVersion).toBe('42');
  });

  test('renumbers resourceVersions that are too large in order', () => {
    const object = (name: string, version: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default, resourceVersion: "${version}" }\n`;
    const text = [object('a', '9007199254740993'), object('b', '12'), object('c', '9007199254740992')].join('---\n');
    const state = parseCapture(text);
    expect(state.objects.map(({ metadata }) => metadata.resourceVersion)).toEqual(['3', '1', '2']);
    expect(state.resourceVersion).toBe('3');
  });

  test('rejects a document that is not an object with its position', () => {
    const wrong: [string, RegExp][] = [
      ['apiVersion: v1\nkind: ConfigMap\n', /line 1 \(document 1\): ConfigMap has no metadata.name/],
      ['a: 1\n---\nb: 2\n', /line 1 \(document 1\): apiVersion is missing/],
      ['apiVersion: v1\nkind: List\nitems: [7]\n', /item 1\): is not an object/],
      ['apiVersion: v1\nkind: X\nmetadata: { name: x, resourceVersion: x }\n', /decimal text of a number, got "x"/],
      ['a: [', /line 1/],
    ];
    for (const [text, message] of wrong) {
      expect(() => parseCapture(text)).toThrow(message);
      expect(() => parseCapture(text)).toThrow(ManifestError);
    }
    expect(() => parseCapture(undefined as never)).toThrow(TypeError);
  });

  test('rejects kinds that are not served and hints at the dialect', () => {
    const from = parseCapture(
      'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: x, namespace: default }\n',
    );
    expect(() => testCluster({ from })).toThrow(/Ingress in networking.k8s.io\/v1.*dialect: 'kubernetes'/);
    expect(testCluster({ from, dialect: 'kubernetes' }).resourceVersion).toBe('4');
  });
});
