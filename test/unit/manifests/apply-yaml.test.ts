/** applyYaml and installYaml: order, outcomes, failures and options. */
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import type { ClusterOptions } from '../../../src/cluster/options.js';
import { ConfigMap, CustomResourceDefinition, Namespace, Pod } from '../../../src/kinds/index.js';
import { type ApplyYamlOptions, applyYaml, ManifestsError } from '../../../src/manifests/apply-yaml.js';
import { type InstallYamlOptions, installYaml } from '../../../src/manifests/install-yaml.js';
import { StatusError } from '../../../src/meta/errors.js';
import { testCluster } from '../../../src/testing/index.js';

const cluster = (options: ClusterOptions = {}) => createCluster({ dialect: 'kubernetes', ...options });

const document = (kind: string, name: string, rest = '') =>
  `apiVersion: v1\nkind: ${kind}\nmetadata: { name: ${name} }\n${rest === '' ? '' : `${rest}\n`}`;
const together = (...documents: string[]) => documents.join('---\n');

const definition = (kind: string, versions = ['v1'], group = 'example.com') => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${kind.toLowerCase()}s.${group}
spec:
  group: ${group}
  scope: Namespaced
  names: { plural: ${kind.toLowerCase()}s, singular: ${kind.toLowerCase()}, kind: ${kind} }
  versions:
${versions
  .map(
    (name, index) => `  - name: ${name}
    served: true
    storage: ${index === 0}
    schema:
      openAPIV3Schema:
        type: object
        properties: { spec: { type: object, properties: { size: { type: integer, minimum: 1, default: 3 } } } }
`,
  )
  .join('')}`;

const gadget = (name: string, size = 2) =>
  `apiVersion: example.com/v1\nkind: Gadget\nmetadata: { name: ${name} }\nspec: { size: ${size} }\n`;

/** A report in short form. */
const outline = (report: Awaited<ReturnType<typeof applyYaml>>) =>
  report.map(({ document: at, outcome, kind, name }) => [at, kind, name, outcome]);

async function failureOf(promise: Promise<unknown>): Promise<ManifestsError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ManifestsError);
  return error as ManifestsError;
}

describe('applyYaml', () => {
  test('reports the outcome of each object in the order of the text', async () => {
    const target = cluster();
    const text = together(
      document('ConfigMap', 'a', 'data: { k: v }'),
      document('Namespace', 'team, labels: { of: us }'),
      '# nothing\n',
    );
    expect(outline(await applyYaml(target, text))).toEqual([
      [1, 'ConfigMap', 'a', 'created'],
      [2, 'Namespace', 'team', 'created'],
    ]);
    const before = target.resourceVersion;
    expect(outline(await applyYaml(target, text)).map(([, , , outcome]) => outcome)).toEqual([
      'unchanged',
      'unchanged',
    ]);
    expect(target.resourceVersion).toBe(before);
    const [changed] = await applyYaml(target, text.replace('k: v', 'k: w'));
    expect(changed).toMatchObject({ outcome: 'configured', namespace: 'default', apiVersion: 'v1' });
    expect(changed?.outcome !== 'failed' && changed?.object).toEqual(await target.api(ConfigMap).get('a'));
  });

  test('applies namespaces before their objects, and CRDs before their custom resources', async () => {
    const target = cluster();
    const text = together(
      gadget('first').replace('name: first', 'name: first, namespace: team'),
      document('ConfigMap', 'a, namespace: team'),
      document('Namespace', 'team'),
      definition('Gadget'),
    );
    expect(outline(await applyYaml(target, text))).toEqual([
      [1, 'Gadget', 'first', 'created'],
      [2, 'ConfigMap', 'a', 'created'],
      [3, 'Namespace', 'team', 'created'],
      [4, 'CustomResourceDefinition', 'gadgets.example.com', 'created'],
    ]);
  });

  test('splits lists and counts their items', async () => {
    const item = (name: string) => `- { apiVersion: v1, kind: ConfigMap, metadata: { name: ${name} } }\n`;
    const report = await applyYaml(cluster(), `apiVersion: v1\nkind: List\nitems:\n${item('b')}${item('a')}`);
    expect(report.map(({ item: at, name, place }) => [at, name, place])).toEqual([
      [1, 'b', 'line 1 (document 1, item 1)'],
      [2, 'a', 'line 1 (document 1, item 2)'],
    ]);
  });

  test('applies the others when one is rejected, and rejects with an error that names it', async () => {
    const target = cluster();
    const text = together(document('ConfigMap', 'Wrong'), document('ConfigMap', 'a'), document('Nonsense', 'b'));
    const error = await failureOf(applyYaml(target, text));
    expect(error.message).toMatch(
      /^applyYaml: 2 of 3 failed\n {2}line 1 \(document 1\): ConfigMap default\/Wrong: .+\n {2}line 9 \(document 3\): no kind Nonsense in v1 is served$/,
    );
    expect(outline(error.report).map(([, , , outcome]) => outcome)).toEqual(['failed', 'created', 'failed']);
    const [first, second] = error.errors;
    expect(StatusError.is(first?.cause, 'Invalid')).toBe(true);
    expect(second?.cause).toBeUndefined();
    expect(second?.place).toEqual({ document: 3, line: 9 });
    expect(await target.api(ConfigMap).find('a')).toBeDefined();
  });

  test('stops at the first failure, or only reports failures, depending on onError', async () => {
    const text = together(document('ConfigMap', 'Wrong'), document('ConfigMap', 'a'));
    const stopped = cluster();
    const error = await failureOf(applyYaml(stopped, text, { onError: 'stop' }));
    expect(error.report).toHaveLength(1);
    expect(await stopped.api(ConfigMap).find('a')).toBeUndefined();
    const report = await applyYaml(cluster(), text, { onError: 'report' });
    expect(report.map(({ outcome }) => outcome)).toEqual(['failed', 'created']);
    const broken = definition('Gadget').replace('type: integer', 'type: nonsense');
    const stoppedEarly = await failureOf(
      applyYaml(cluster(), together(broken, document('ConfigMap', 'a')), { onError: 'stop' }),
    );
    expect(outline(stoppedEarly.report)).toEqual([[1, 'CustomResourceDefinition', 'gadgets.example.com', 'failed']]);
  });

  test('applies nothing when a document cannot be read', async () => {
    const target = cluster();
    const before = target.resourceVersion;
    const text = together(document('ConfigMap', 'a'), 'apiVersion: [\n', 'kind: ConfigMap\n');
    const { message, report } = await failureOf(applyYaml(target, text));
    expect(message).toContain(
      'applyYaml: 2 of 3 failed; nothing was applied\n  line 5 (document 2): error converting YAML to JSON',
    );
    expect(message).toContain('\n  line 7 (document 3): apiVersion is missing');
    expect(report.every(({ kind }) => kind === undefined)).toBe(true);
    expect((await applyYaml(target, text, { onError: 'report' })).map(({ document: at }) => at)).toEqual([2, 3]);
    expect(target.resourceVersion).toBe(before);
  });

  test('leaves the fields of other managers alone unless it is forced', async () => {
    const target = cluster();
    const text = (value: string) => document('ConfigMap', 'a', `data: { k: ${value} }`);
    await applyYaml(target, text('one'), { fieldManager: 'first' });
    const { errors } = await failureOf(applyYaml(target, text('two'), { fieldManager: 'second' }));
    expect(StatusError.is(errors[0]?.cause, 'Conflict')).toBe(true);
    await applyYaml(target, text('two'), { fieldManager: 'second', force: true });
    const { managedFields } = (await target.api(ConfigMap).get('a')).metadata;
    expect(managedFields?.map(({ manager }) => manager)).toContain('second');
  });

  test('stores nothing in a dry run', async () => {
    const target = cluster();
    const before = target.resourceVersion;
    const text = together(definition('Gadget'), document('ConfigMap', 'a'), gadget('g'));
    const { report, errors } = await failureOf(applyYaml(target, text, { dryRun: true }));
    expect(report.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'failed']);
    expect(errors[0]?.message).toContain('its CustomResourceDefinition (document 1) defines nothing in a dry run');
    expect(target.resourceVersion).toBe(before);
    await applyYaml(target, document('ConfigMap', 'a', 'data: { k: v }'));
    const again = await applyYaml(target, document('ConfigMap', 'a', 'data: { k: v }'), { dryRun: true });
    expect(again[0]?.outcome).toBe('unchanged');
  });

  test('uses the defaults of the client for absent options', async () => {
    const target = cluster();
    await installYaml(target, definition('Gadget'));
    const warnings: string[] = [];
    const onWarning = (warning: string) => void warnings.push(warning);
    const defaults = { namespace: 'kube-system', fieldManager: 'me', onWarning } as const;
    const text = gadget('a').replace('name: a', 'name: a, finalizers: [bare]');
    const [report] = await applyYaml(target, text, { fieldManager: undefined }, defaults);
    expect(report).toMatchObject({ namespace: 'kube-system', warnings: [expect.stringContaining('"bare"')] });
    expect(warnings).toEqual([expect.stringContaining('"bare"')]);
    expect(report?.outcome !== 'failed' && report?.object.metadata.managedFields).toMatchObject([{ manager: 'me' }]);
    const [other] = await applyYaml(target, text, { namespace: 'kube-public' }, defaults);
    expect(other?.namespace).toBe('kube-public');
    const rehearsed = await applyYaml(target, gadget('b'), {}, { ...defaults, dryRun: true });
    expect(rehearsed[0]?.outcome).toBe('created');
    expect((await applyYaml(target, gadget('b'), { dryRun: false }, { ...defaults, dryRun: true }))[0]?.outcome).toBe(
      'created',
    );
  });

  test('rejects unknown fields', async () => {
    const text = together(definition('Gadget'), gadget('a').replace('size', 'sze'));
    expect((await failureOf(applyYaml(cluster(), text))).message).toContain('sze');
    await applyYaml(cluster(), text.replace('sze', 'size'));
  });

  test('creates objects that have only a generateName', async () => {
    const target = cluster();
    const text =
      'apiVersion: v1\nkind: Pod\nmetadata: { generateName: p- }\nspec: { containers: [{ name: c, image: i }] }';
    for (let times = 0; times < 2; times++) expect((await applyYaml(target, text))[0]?.outcome).toBe('created');
    expect((await target.api(Pod).list()).items).toHaveLength(2);
  });

  test('reports whether the CRD of a kind is missing, failed or has other versions', async () => {
    const missing = await failureOf(applyYaml(cluster(), gadget('g')));
    expect(missing.message).toContain('no kind of that group is defined here');
    // Printed, an error does not repeat the errors in its report.
    expect(Object.keys(missing)).not.toContain('report');
    const broken = definition('Gadget').replace('type: integer', 'type: nonsense');
    const failed = await failureOf(applyYaml(cluster(), together(gadget('g'), broken)));
    expect(failed.errors.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        'no kind Gadget in example.com/v1 is served: its CustomResourceDefinition (document 2) failed',
      ),
      expect.stringContaining('CustomResourceDefinition gadgets.example.com: '),
    ]);
    const other = await failureOf(applyYaml(cluster(), together(definition('Gadget', ['v2']), gadget('g'))));
    expect(other.message).toContain('its CustomResourceDefinition (document 1) failed, or has no such version');
    const dialect = await failureOf(applyYaml(createCluster(), definition('Gadget')));
    expect(dialect.message).toContain('this cluster uses orch');
  });

  test('rejects misuse with TypeError and an abort with the reason of the signal', async () => {
    const target = cluster();
    const wrong = { fieldManger: 'ci' } as ApplyYamlOptions;
    await expect(applyYaml(target, '', wrong)).rejects.toThrow(
      'applyYaml has no option "fieldManger"; it has fieldMan',
    );
    const odd = { onError: 'ignore' } as unknown as ApplyYamlOptions;
    await expect(applyYaml(target, '', odd)).rejects.toThrow('onError of applyYaml is continue, stop, report');
    await expect(applyYaml(target, new URL('file:///a') as unknown as string)).rejects.toThrow('takes the text of');
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(applyYaml(target, document('Namespace', 'a'), { signal })).rejects.toThrow('enough');
    expect(await target.api(Namespace).find('a')).toBeUndefined();
    expect(await applyYaml(target, '')).toEqual([]);
  });
});

describe('installYaml', () => {
  test('returns a kind for each CRD in the order of the text', async () => {
    const target = cluster();
    const kinds = await installYaml(
      target,
      together(definition('Gadget'), definition('Part', ['v1beta1', 'v1', 'v2alpha1'])),
    );
    expect(kinds.map(({ kind, version, group }) => [kind, version, group])).toEqual([
      ['Gadget', 'v1', 'example.com'],
      ['Part', 'v1', 'example.com'],
    ]);
    const [Gadget] = kinds;
    if (Gadget === undefined) throw new Error('no kind');
    const made = await target.api(Gadget).create({ metadata: { name: 'a' }, spec: {} });
    expect(made['spec']).toEqual({ size: 3 });
    const applied = await target
      .api(Gadget)
      .apply({ metadata: { name: 'b' }, spec: { size: 5 } }, { fieldManager: 'me' });
    expect(applied['spec']).toEqual({ size: 5 });
    await applyYaml(target, gadget('c'));
    expect((await target.api(Gadget).list()).items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    const bad = target.api(Gadget).create({ metadata: { name: 'd' }, spec: { size: 0 } });
    await expect(bad).rejects.toThrow('spec.size in body should be greater than or equal to 1');
  });

  test('changes nothing when it is repeated', async () => {
    const target = cluster();
    const [first] = await installYaml(target, definition('Gadget'), { fieldManager: 'ci' });
    const before = target.resourceVersion;
    const [again] = await installYaml(target, definition('Gadget'), { fieldManager: 'ci' });
    expect(target.resourceVersion).toBe(before);
    expect(again).toBe(first);
    const { managedFields } = (await target.api(CustomResourceDefinition).get('gadgets.example.com')).metadata;
    expect(managedFields?.map(({ manager }) => manager)).toContain('ci');
  });

  test('rejects a text with anything but CRDs as a whole', async () => {
    const target = cluster();
    const before = target.resourceVersion;
    const { message } = await failureOf(
      installYaml(target, together(definition('Gadget'), document('ConfigMap', 'a'))),
    );
    expect(message).toContain(
      '(document 2): installYaml takes CustomResourceDefinitions only; apply ConfigMap a with applyYaml',
    );
    expect(target.resourceVersion).toBe(before);
    expect(await installYaml(target, '# nothing')).toEqual([]);
  });

  test('reports CRDs that are rejected or whose names conflict', async () => {
    const target = cluster();
    const broken = definition('Gadget').replace('type: integer', 'type: nonsense');
    const rejection = await failureOf(installYaml(target, broken));
    expect(rejection.message).toContain('Unsupported value: "nonsense"');
    await installYaml(target, definition('Gadget'));
    const twin = definition('Twin').replace('kind: Twin }', 'kind: Gadget }');
    const taken = await failureOf(installYaml(target, twin));
    expect(taken.message).toMatch(/CustomResourceDefinition twins\.example\.com: its names are not accepted: .*Gadget/);
    const hidden = definition('Hidden').replace('served: true', 'served: false');
    expect((await failureOf(installYaml(target, hidden))).message).toContain('serves no kind');
  });

  test('rejects unknown options', async () => {
    const options = { namespace: 'team' } as InstallYamlOptions;
    await expect(installYaml(cluster(), '', options)).rejects.toThrow('installYaml has no option "namespace"');
  });

  test('exists on a cluster and its forks, with the defaults of the client', async () => {
    const target = createCluster({ client: { namespace: 'kube-public', fieldManager: 'me' } });
    const [Gadget] = await target.installYaml(definition('Gadget').replace('.k8s.io', '.orch.io'));
    if (Gadget === undefined) throw new Error('no kind');
    const fork = target.fork();
    const [applied] = await fork.applyYaml(gadget('a'));
    expect(applied).toMatchObject({ outcome: 'created', namespace: 'kube-public' });
    const { managedFields } = (await fork.api(Gadget).get('a')).metadata;
    expect(managedFields?.map(({ manager }) => manager)).toEqual(['me']);
    expect(await target.api(Gadget).find('a')).toBeUndefined();
  });

  test('works with a clock that does not advance', async () => {
    const [Gadget] = await testCluster({ dialect: 'kubernetes' }).installYaml(definition('Gadget'));
    expect(Gadget?.kind).toBe('Gadget');
  });
});

describe('unusual and long texts', () => {
  const places = async (text: string) =>
    (await applyYaml(cluster(), text)).map(({ place, name }) => `${name}: ${place}`);
  const [a, b, c] = ['a', 'b', 'c'].map((name) => document('ConfigMap', name)) as [string, string, string];

  test('reads consecutive JSON objects one by one, each with its line', async () => {
    const report = await applyYaml(cluster(), '{}'.repeat(20_000), { onError: 'report' });
    expect(report).toHaveLength(20_000);
    const spread = await applyYaml(cluster(), '{}\n{"a":\n"}"}\n\n{}', { onError: 'report' });
    expect(spread.map(({ place }) => place)).toEqual([
      'line 1 (document 1)',
      'line 2 (document 2)',
      'line 5 (document 3)',
    ]);
  });

  test('reads many documents in linear time with correct lines', async () => {
    const report = await applyYaml(cluster(), '---\na: [\n'.repeat(10_000), { onError: 'report' });
    expect(report).toHaveLength(10_000);
    expect(report[9_999]).toMatchObject({
      error: { message: expect.stringMatching(/^line 20000 \(document 10000\): .*yaml: line 20000: /) },
    });
  });

  test.each(['\r', '\r\n'])('accepts lines that end with %j', async (end) => {
    const expected = ['a: line 1 (document 1)', 'b: line 5 (document 2)'];
    expect(await places(together(a, b).replaceAll('\n', end))).toEqual(expected);
  });

  test('ignores byte order marks of concatenated files', async () => {
    const joined = `\uFEFF${a}\uFEFF---\n${b}---\n\uFEFF# c\n\uFEFF${c}`;
    expect(await places(joined)).toEqual([
      'a: line 1 (document 1)',
      'b: line 5 (document 2)',
      'c: line 10 (document 3)',
    ]);
  });

  test('splits nested lists', async () => {
    const list = (kind: string, ...items: unknown[]) => ({ apiVersion: 'v1', kind, items });
    const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    const inner = list('List', map('a'), list('ConfigMapList', { metadata: { name: 'b' } }));
    expect(await places(JSON.stringify(list('List', inner, map('c'))))).toEqual([
      'a: line 1 (document 1, item 1)',
      'b: line 1 (document 1, item 1)',
      'c: line 1 (document 1, item 2)',
    ]);
  });

  test('rejects with the reason of a signal that has already aborted before other errors', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(applyYaml(cluster(), '{{{', { signal })).rejects.toThrow('enough');
    await expect(installYaml(cluster(), '{{{', { signal })).rejects.toThrow('enough');
  });
});
