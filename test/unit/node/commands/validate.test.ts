/** `orchplane validate`. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { findingText, githubAnnotation } from '../../../../src/manifests/finding.js';
import { run } from './run.js';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-validate-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

/** Writes files by their path in the folder. */
function files(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

interface JsonFinding {
  readonly level: string;
  readonly rule: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly field?: string;
}

async function findings(...options: string[]): Promise<{ code: number; found: JsonFinding[] }> {
  const { code, out } = await run(['validate', '-f', folder, '-o', 'json', ...options]);
  const { findings: found } = JSON.parse(out) as { findings: JsonFinding[] };
  return { code, found: found.map((each) => ({ ...each, file: each.file.slice(folder.length + 1) })) };
}

/** `file:line rule`. */
const places = (found: readonly JsonFinding[]) => found.map(({ file, line, rule }) => `${file}:${line} ${rule}`);

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: web
          image: web:1
`;

const CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: { type: integer, maximum: 3 }
              x-kubernetes-validations:
                - { rule: 'self.size != 2', message: two is not allowed }
`;

const widget = (size: number, name = 'w') =>
  `apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: ${name}\nspec:\n  size: ${size}\n`;

describe('validate', () => {
  test('accepts valid manifests in nested folders, in namespaces that do not exist', async () => {
    files({
      'a/b/web.yaml': DEPLOYMENT,
      'c/config.json': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}',
    });
    const { code, out, err } = await run(['validate', '-f', folder]);
    expect({ code, out, err }).toEqual({ code: 0, out: '', err: '2 objects in 2 files: 0 errors, 0 warnings\n' });
  });

  test('reports the line of each invalid field', async () => {
    const text = `# a comment\n---\n${DEPLOYMENT.replace('replicas: 2', 'replicas: -1').replace('image: web:1', 'imagePullPolicy: Often')}`;
    files({ 'web.yaml': text });
    const { code, found } = await findings();
    expect(code).toBe(1);
    expect(found.map(({ field, line }) => [field, line])).toEqual([
      ['spec.replicas', 9],
      ['spec.template.spec.containers[0].image', 15],
      ['spec.template.spec.containers[0].imagePullPolicy', 16],
    ]);
    expect(found[0]?.message).toBe('spec.replicas: Invalid value: -1: must be greater than or equal to 0');
  });

  test('reports a value of the wrong type at its line', async () => {
    files({ 'web.yaml': DEPLOYMENT.replace('replicas: 2', 'replicas: two') });
    expect(places((await findings()).found)).toEqual(['web.yaml:7 invalid']);
  });

  test('reports warnings of an object that is rejected', async () => {
    files({ 'web.yaml': DEPLOYMENT.replace('replicas: 2', 'replicas: -1').replace('image:', 'imag:') });
    expect(places((await findings()).found)).toEqual([
      'web.yaml:7 invalid',
      'web.yaml:13 invalid',
      'web.yaml:14 unknown-field',
    ]);
  });

  test('warns about unknown fields and fails with --strict', async () => {
    files({ 'web.yaml': DEPLOYMENT.replace('replicas: 2', 'replica: 2') });
    const { code, found } = await findings();
    expect(code).toBe(0);
    expect(found).toMatchObject([{ level: 'warning', rule: 'unknown-field', line: 7, field: 'spec.replica' }]);
    const strict = await findings('--strict');
    expect([strict.code, strict.found[0]?.level]).toEqual([1, 'error']);
  });

  test('validates custom resources by CRDs of the set, schema and rules', async () => {
    files({ 'a-objects.yaml': `${widget(1)}---\n${widget(2, 'two')}---\n${widget(4, 'four')}`, 'z-crd.yaml': CRD });
    const { code, found } = await findings();
    expect(code).toBe(1);
    expect(places(found)).toEqual(['a-objects.yaml:12 invalid', 'a-objects.yaml:20 invalid']);
    expect(found[0]?.message).toContain('two is not allowed');
  });

  test('takes CRDs and policies from other folders', async () => {
    const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: small }
spec:
  paramKind: { apiVersion: v1, kind: ConfigMap }
  matchConstraints:
    resourceRules: [{ apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets] }]
  validations: [{ expression: 'object.spec.size <= int(params.data.most)', messageExpression: "'at most ' + params.data.most" }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: small }
spec:
  policyName: small
  validationActions: [Deny]
  paramRef: { name: limits, namespace: default, parameterNotFoundAction: Deny }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: limits }
data: { most: '1' }
`;
    files({
      'objects/w.yaml': `${widget(1)}---\n${widget(3, 'three')}`,
      'crds/crd.yaml': CRD,
      'policies/p.yaml': policy,
    });
    const options = ['--crds', join(folder, 'crds'), '--policies', join(folder, 'policies')];
    const { code, out } = await run(['validate', '-f', join(folder, 'objects'), ...options]);
    expect(code).toBe(1);
    expect(out).toContain('w.yaml:8: error: Widget default/three: ');
    expect(out).toContain('at most 1');
    expect(out.trim().split('\n')).toHaveLength(1);
  });

  test('applies quotas, limits and pod security of the set', async () => {
    const pod = (name: string, more = '') =>
      `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name}, namespace: team }\nspec:\n  containers:\n    - { name: a, image: a${more} }\n`;
    files({
      'namespace.yaml': `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n  labels: { pod-security.kubernetes.io/enforce: baseline }\n`,
      'pods.yaml': `${pod('one')}---\n${pod('two')}---\n${pod('privileged', ', securityContext: { privileged: true }')}`,
      'quota.yaml': `apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: q, namespace: team }\nspec: { hard: { pods: '1' } }\n`,
    });
    const { found } = await findings();
    expect(places(found)).toEqual(['pods.yaml:8 forbidden', 'pods.yaml:15 forbidden']);
    expect(found[0]?.message).toContain('exceeded quota: q');
    expect(found[1]?.message).toContain('violates PodSecurity "baseline:latest"');
  });

  test('names the replacement of a version that is gone and warns about deprecated ones', async () => {
    files({
      'endpoints.yaml': 'apiVersion: v1\nkind: Endpoints\nmetadata: { name: e }\n',
      'ingress.yaml': 'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: { name: i }\n',
    });
    const { found } = await findings();
    expect(found.map(({ level, rule, message }) => [level, rule, message])).toEqual([
      ['warning', 'deprecated', 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'],
      ['error', 'removed', 'extensions/v1beta1 Ingress was removed in release 1.22; use networking.k8s.io/v1 Ingress'],
    ]);
    expect((await findings('--release', '1.32')).found.map(({ rule }) => rule)).toEqual(['removed']);
  });

  test('serves what the runtime configuration and the feature gates enable', async () => {
    const devices = 'devices: { requests: [{ name: a, deviceClassName: x }] }';
    const claim = `apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: { name: a }\nspec: { ${devices} }\n`;
    files({ 'claim.yaml': claim });
    const runtime = ['--runtime-config', 'resource.k8s.io/v1beta1=true'];
    expect((await findings()).found[0]?.message).toContain("runtimeConfig: 'resource.k8s.io/v1beta1=true'");
    expect((await findings(...runtime, '--feature-gates', 'DynamicResourceAllocation=true')).found).toEqual([]);
  });

  test('does not call webhooks, whether of admission or of conversion', async () => {
    const hook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: { name: hook }
webhooks:
  - name: hook.example.com
    clientConfig: { url: 'https://hook.invalid/' }
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }]
    sideEffects: None
    admissionReviewVersions: [v1]
`;
    const converted = CRD.replace(
      '  versions:',
      "  conversion: { strategy: Webhook, webhook: { conversionReviewVersions: [v1], clientConfig: { url: 'https://c.invalid/' } } }\n  versions:",
    );
    const second = '    - { name: v2, served: true, storage: false, schema: { openAPIV3Schema: { type: object } } }\n';
    files({
      'a.yaml': hook,
      'b.yaml': converted + second,
      'c.yaml': widget(1).replace('example.com/v1', 'example.com/v2'),
    });
    expect(await findings()).toEqual({ code: 0, found: [expect.objectContaining({ rule: 'unknown-field' })] });
  });

  test('reports files of Helm and kustomize and other files, and does not check them', async () => {
    files({
      'chart/Chart.yaml': 'apiVersion: v2\nname: chart\n',
      'chart/crds/crd.yaml': CRD,
      'chart/templates/web.yaml': 'kind: {{ .Values.kind }}\n',
      'chart/values.yaml': 'replicas: 1\n',
      'overlay/kustomization.yaml': 'resources: [more/w.yaml]\npatches:\n  - path: patch.yaml\n',
      'overlay/more/other.yaml': 'apiVersion: builtin\nkind: PrefixTransformer\nmetadata: { name: t }\n',
      'overlay/more/w.yaml': widget(2, 'two'),
      'overlay/patch.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n',
      'package.json': '{ "name": "x" }\n',
      'w.yaml': widget(1),
    });
    const { code, found } = await findings();
    expect(code).toBe(1);
    expect(places(found)).toEqual([
      'chart/Chart.yaml:1 skipped',
      'overlay/kustomization.yaml:1 skipped',
      'overlay/more/other.yaml:1 skipped',
      'overlay/more/w.yaml:5 invalid',
      'overlay/patch.yaml:1 skipped',
      'package.json:1 skipped',
    ]);
    expect((await run(['validate', '-f', folder])).err).toBe(
      '3 objects in 4 files: 1 error, 0 warnings, 5 files not checked\n',
    );
  });

  test('does not check configuration of programs, which no API serves', async () => {
    const configuration = [
      'apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata: { name: all }\n',
      'apiVersion: v1\nkind: Config\n',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
      'apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n',
      'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n',
      'apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n',
      'apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n',
      'apiVersion: kind.x-k8s.io/v1alpha4\nkind: Cluster\n',
    ];
    const policy = join(folder, 'policy.yaml');
    files({ 'all.yaml': [...configuration, widget(1), CRD].join('---\n'), 'policy.yaml': configuration[0] ?? '' });
    const { code, found } = await findings();
    expect(code).toBe(0);
    expect(found.map(({ file, message }) => `${file} ${message}`)).toEqual([
      'all.yaml not checked: 8 documents, configuration of a program, which no API serves',
      'policy.yaml not checked: configuration of a program, which no API serves',
    ]);
    for (const [command, what] of [
      ['validate', 'manifests'],
      ['upgrade-check --to 1.33', 'objects'],
    ]) {
      expect(await run(`${command} -f ${policy}`)).toEqual({
        code: 2,
        out: '',
        err: `orchplane: -f ${policy} contains no ${what}; ${policy} is not checked: configuration of a program, which no API serves\n`,
      });
    }
  });

  test('checks kinds of the groups of the API whose names are similar to those of configuration', async () => {
    const [first, second] = ['admissionregistration.k8s.io/v1', 'flowcontrol.apiserver.k8s.io/v1'];
    files({ 'a.yaml': `apiVersion: ${first}\nkind: Policy\n---\napiVersion: ${second}\nkind: Config\n` });
    expect(places((await findings()).found)).toEqual(['a.yaml:1 unreadable', 'a.yaml:4 unreadable']);
  });

  test('reports documents that cannot be read and objects that are defined twice', async () => {
    files({
      'a.yaml': DEPLOYMENT,
      'b.yaml': DEPLOYMENT,
      'c.yaml': 'apiVersion: v1\nkind: [\n',
      'd.yaml': 'apiVersion: v1\nkind: Pod\n',
    });
    const { code, found } = await findings();
    expect(code).toBe(1);
    expect(places(found)).toEqual(['b.yaml:1 defined-twice', 'c.yaml:2 unreadable', 'd.yaml:1 unreadable']);
  });

  test('reports every file that cannot be parsed, at the line of the error', async () => {
    files({
      'a.yaml': DEPLOYMENT,
      'broken.yml': 'a: 1\n---\nb: 1\nc: 1\n  d: 2\n',
      'settings.json': '{ "a": [ }\n',
      'notes.txt': 'a: [',
    });
    writeFileSync(join(folder, 'utf16.yaml'), '\uFEFFapiVersion: v1\n', 'utf16le');
    const { code, found } = await findings();
    expect(code).toBe(1);
    expect(places(found.slice(1))).toEqual([
      'broken.yml:5 unreadable',
      'settings.json:1 unreadable',
      'utf16.yaml:1 unreadable',
    ]);
    expect(found[3]?.message).toBe('is UTF-16; manifests are UTF-8');
    const { out } = await run(['validate', '-f', folder, '-o', 'github']);
    expect(out).toContain(`broken.yml,line=5,title=unreadable::error converting YAML to JSON: yaml: line 5: `);
    const applied = await run(['apply', '-f', join(folder, 'broken.yml'), '--data', 'd']);
    expect(applied.err).toContain(`${join(folder, 'broken.yml')}:5 (document 2): `);
  });

  test('rejects --policies and --crds that contain none', async () => {
    files({ 'a.yaml': DEPLOYMENT, 'empty/notes.txt': '' });
    const [file, empty] = [join(folder, 'a.yaml'), join(folder, 'empty')];
    expect(await run(['validate', '-f', file, '--policies', empty])).toEqual({
      code: 2,
      out: '',
      err: `orchplane: --policies ${empty} contains no objects\n`,
    });
    expect(await run(['validate', '-f', file, '--crds', file])).toEqual({
      code: 2,
      out: '',
      err: `orchplane: --crds ${file} contains no CustomResourceDefinition\n`,
    });
  });

  test('reads standard input', async () => {
    const { code, out } = await run('validate -f -', { stdin: DEPLOYMENT.replace('replicas: 2', 'replicas: -1') });
    expect(code).toBe(1);
    expect(out).toMatch(/^stdin:7: error: Deployment shop\/web: spec\.replicas: Invalid value: -1/);
  });

  test('escapes annotations of GitHub', async () => {
    files({ 'a,b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "50%\\n" }\n' });
    const { out } = await run(['validate', '-f', folder, '-o', 'github']);
    expect(out).toMatch(
      /^::error file=[^:,]*a%2Cb\.yaml,line=3,title=invalid::ConfigMap default\/50%25%0A: metadata\.name: /,
    );
    expect(out.trim().split('\n')).toHaveLength(1);
  });

  test('writes SARIF with rules, levels and locations', async () => {
    files({ 'my web.yaml': DEPLOYMENT.replace('replicas: 2', 'replicas: -1') });
    const { code, out } = await run(['validate', '-f', folder, '-o', 'sarif']);
    expect(code).toBe(1);
    const log = JSON.parse(out) as { version: string; runs: Record<string, never>[] };
    expect(log.version).toBe('2.1.0');
    expect(log.runs).toMatchObject([
      {
        tool: { driver: { name: 'orchplane', version: '1.2.3', rules: [{ id: 'invalid' }] } },
        results: [
          {
            ruleId: 'invalid',
            ruleIndex: 0,
            level: 'error',
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: `file://${folder}/my%20web.yaml` },
                  region: { startLine: 7 },
                },
              },
            ],
          },
        ],
      },
    ]);
  });

  test.each([
    [['validate'], 'the option -f is missing, which names manifests'],
    [['validate', '-f', '/missing/file'], '-f /missing/file: no such file or directory'],
    [['validate', '-f', '-', 'b.yaml'], 'unexpected "b.yaml"; every file needs -f'],
    [['validate', '-f', '-', '-f', '-'], 'standard input can be read only once'],
    [
      ['validate', '-f', '-', '--release', '1.99'],
      '--release: release 1.99 is not supported; supported are 1.22 to 1.33',
    ],
    [['validate', '-f', '-', '--feature-gates', 'X'], '--feature-gates takes NAME=true or NAME=false, got "X"'],
    [['validate', '-f', '-', '-o', 'xml'], '--output takes text, json, sarif or github, got "xml"'],
    [['validate', '-f', '-'], '-f - contains no manifests'],
  ])('rejects %j with one sentence', async (args, message) => {
    expect(await run(args)).toEqual({ code: 2, out: '', err: `orchplane: ${message}\n` });
  });
});

test('reports an object that is too large with the managers of its fields', async () => {
  const configMap = (name: string, keys: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: Object.fromEntries(Array.from({ length: keys }, (_, n) => [`key-${n}`, '0123456789'])),
  });
  const quota = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'quota' },
    spec: { hard: { 'count/configmaps': '2' } },
  };
  files({
    'a.yaml': JSON.stringify(quota),
    'b.yaml': JSON.stringify(configMap('fits', 30_000)),
    'c.yaml': JSON.stringify(configMap('large', 45_000)),
    'd.yaml': JSON.stringify(configMap('third', 1)),
  });
  const { code, found } = await findings();
  expect(code).toBe(1);
  expect(found).toMatchObject([
    {
      level: 'warning',
      rule: 'invalid',
      file: 'c.yaml',
      message:
        'is too large with its managedFields: it can be created without them, but a server-side apply is rejected',
    },
    // The object is in the cluster all the same.
    { rule: 'forbidden', file: 'd.yaml', message: expect.stringContaining('exceeded quota: quota') },
  ]);
});

test('does not read devices and folders that a link in a folder leads to', async () => {
  files({ 'a.yaml': DEPLOYMENT, 'k/b.yaml': DEPLOYMENT, 'l/c.yaml': DEPLOYMENT });
  symlinkSync('/dev/zero', join(folder, 'zero.yaml'));
  symlinkSync('.', join(folder, 'loop.yaml'));
  symlinkSync('.', join(folder, 'k/kustomization.yaml'));
  symlinkSync('/dev/zero', join(folder, 'l/kustomization.yaml'));
  const { code, found } = await findings();
  expect(code).toBe(0);
  expect(places(found)).toEqual([
    'k/b.yaml:1 skipped',
    'k/kustomization.yaml:1 skipped',
    'l/c.yaml:1 skipped',
    'l/kustomization.yaml:1 skipped',
    'loop.yaml:1 skipped',
    'zero.yaml:1 skipped',
  ]);
});

test('prints each finding in one line, so that no line is a command of GitHub', async () => {
  files({ 'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "a\\n::add-mask::b\\r::warning::c" }\n' });
  for (const output of ['text', 'github']) {
    const { out } = await run(['validate', '-f', folder, '-o', output]);
    expect(out).toContain('add-mask');
    expect(out.split(/[\r\n]+/).filter((line) => /^\s*::(?!error )/.test(line))).toEqual([]);
  }
});

test('prints no line that GitHub takes as a command', () => {
  const finding = {
    level: 'error',
    rule: 'invalid',
    message: 'm\n::error::n',
    file: '::warning::x.yaml',
    line: 1,
  } as const;
  expect(findingText(finding)).toBe('./::warning::x.yaml:1: error: m ::error::n\n');
  for (const file of [' ::warning ::x/a.yaml', '\n::warning::x.yaml'])
    expect(findingText({ ...finding, file })).toMatch(/^\.\/ ?::warning/);
  expect(githubAnnotation({ ...finding, file: 'a,b:c\n.yaml' })).toBe(
    '::error file=a%2Cb%3Ac%0A.yaml,line=1,title=invalid::m%0A::error::n\n',
  );
});
