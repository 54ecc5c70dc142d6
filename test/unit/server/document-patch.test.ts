/**
 * JSON and merge patches through the server: the type of the patched document, unknown and duplicate fields, and the
 * document in error messages.
 */
import { mergePatch } from 'orchplane';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { jsonBody } from '../../../src/codec/json.js';
import { StatusError } from '../../../src/meta/errors.js';

let cluster: TestCluster;
let warnings: string[];

beforeEach(async () => {
  warnings = [];
  cluster = testCluster({ client: { onWarning: (warning) => warnings.push(warning) } });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { k: 'v' } });
});

type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const scalers = { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' };

/** The error of a rejected request. */
async function failureOf(run: () => unknown): Promise<StatusError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** The only cause of an invalid patch. */
function causeOf({ status }: StatusError): string | undefined {
  return status.details?.causes?.[0]?.message;
}

/** Sends a patch as text, so that it can contain duplicate keys and any number format. */
async function send(text: string, fieldValidation: FieldValidation = 'Warn', resource = configMaps, name = 'a') {
  const response = await cluster.send({
    verb: 'patch',
    resource,
    namespace: 'default',
    name,
    patchType: text.startsWith('[') ? 'json' : 'merge',
    options: { fieldValidation },
    body: jsonBody(text),
  });
  warnings.push(...(response.warnings ?? []));
  return response;
}

/** Removes values that differ between runs from the document. */
const PLAIN =
  '{"op":"remove","path":"/metadata/resourceVersion"},{"op":"remove","path":"/metadata/managedFields"},' +
  '{"op":"remove","path":"/metadata/uid"},{"op":"remove","path":"/metadata/creationTimestamp"}';
const PLAIN_MERGE = '"resourceVersion":null,"managedFields":null,"uid":null,"creationTimestamp":null';

const printed = (document: string) => `Invalid value: ${JSON.stringify(document)}`;

describe('a patched document', () => {
  const base = '"metadata":{"name":"a","namespace":"default"}';
  const cases: readonly (readonly [name: string, patch: string, document: string, why: string])[] = [
    [
      'of another kind',
      `[${PLAIN},{"op":"replace","path":"/kind","value":"Secret"},{"op":"remove","path":"/data"}]`,
      `{"apiVersion":"v1","kind":"Secret",${base}}`,
      'converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'of an unknown version',
      `{"apiVersion":"v2","metadata":{${PLAIN_MERGE}}}`,
      `{"apiVersion":"v2","data":{"k":"v"},"kind":"ConfigMap",${base}}`,
      'no kind "ConfigMap" is registered for version "v2" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'of another kind and no version',
      `{"apiVersion":null,"kind":"Secret","metadata":{${PLAIN_MERGE}}}`,
      `{"data":{"k":"v"},"kind":"Secret",${base}}`,
      'converting (core.Secret) to (core.ConfigMap): unknown conversion',
    ],
    [
      'of an unknown kind and no version',
      `{"apiVersion":null,"kind":"Thing","metadata":{${PLAIN_MERGE}}}`,
      `{"data":{"k":"v"},"kind":"Thing",${base}}`,
      'no kind "Thing" is registered for the internal version of group "" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
    [
      'with characters that Go escapes for HTML',
      `{"data":{"k":1,"l":"<&>\\u2028"},"metadata":{${PLAIN_MERGE}}}`,
      `{"apiVersion":"v1","data":{"k":1,"l":"\\u003c\\u0026\\u003e\\u2028"},"kind":"ConfigMap",${base}}`,
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
  ];

  test.each(cases)(
    'rejects a patched document %s, with the document in the message',
    async (_name, patch, document, why) => {
      const error = await failureOf(() => send(patch));
      expect(error.code).toBe(422);
      expect(causeOf(error)).toBe(`${printed(document)}: ${why}`);
      expect(warnings).toEqual([]);
    },
  );

  test('reads a patched document without a kind as the kind of the URL', async () => {
    await send('{"kind":null,"data":{"k":"new"}}');
    expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ k: 'new' });
  });

  const NAMELESS = 'the name of the object (a based on URL) was undeterminable: name must be provided';

  test.each([
    ['{"apiVersion":null}', ['unknown field "data"', 'unknown field "metadata"']],
    ['[{"op":"replace","path":"","value":{"data":{"only":"data"}}}]', ['unknown field "data"']],
  ])('treats all fields of a patched document without an apiVersion as unknown: %s', async (patch, findings) => {
    const error = await failureOf(() => send(patch));
    expect([error.code, error.message]).toEqual([400, NAMELESS]);
    expect(error.warnings).toEqual(findings);
    const strict = await failureOf(() => send(patch, 'Strict'));
    expect(strict.message).toContain(`strict decoding error: ${findings.join(', ')}`);
    expect((await failureOf(() => send(patch, 'Ignore'))).message).toBe(NAMELESS);
  });

  test('converts a patched document of another version of the kind', async () => {
    await cluster.api(HorizontalPodAutoscaler).create({
      metadata: { name: 'h' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    });
    await cluster
      .api(HorizontalPodAutoscalerV1)
      .patch('h', mergePatch({ spec: { targetCPUUtilizationPercentage: 70 } }));
    await send('{"apiVersion":"autoscaling/v2","spec":{"maxReplicas":5}}', 'Warn', scalers, 'h');
    expect(warnings).toEqual(['unknown field "spec.targetCPUUtilizationPercentage"']);
    const { spec } = await cluster.api(HorizontalPodAutoscalerV1).get('h');
    // The other version has no percentage field, so its default is returned.
    expect(spec).toMatchObject({ maxReplicas: 5, targetCPUUtilizationPercentage: 80 });
  });
});

describe('unknown and duplicate fields of a patch', () => {
  const labels = '{"op":"add","path":"/metadata/labels","value":{"a":"1","a":"2"}}';
  const found = (labelled: string) =>
    `{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{${labelled}"name":"a","namespace":"default"}}`;
  const cases: readonly (readonly [name: string, patch: string, document: string, findings: readonly string[]])[] = [
    [
      'in an operation',
      `[${PLAIN},{"op":"remove","op":"test","path":"/kind","value":"ConfigMap","nope":1}]`,
      found(''),
      ['json patch duplicate field "[4].op"', 'json patch unknown field "[4].nope"'],
    ],
    [
      'in a value, reported for the patch and for the document',
      `[${PLAIN},${labels}]`,
      found('"labels":{"a":"1","a":"2"},'),
      ['json patch duplicate field "[4].value.a"', 'duplicate field "metadata.labels.a"'],
    ],
    [
      'in a value that a later operation changes',
      `[${PLAIN},${labels},{"op":"add","path":"/metadata/labels/b","value":"3"}]`,
      found('"labels":{"a":"2","b":"3"},'),
      ['json patch duplicate field "[4].value.a"'],
    ],
    [
      'in a merge patch, which decodes all values',
      `{"metadata":{${PLAIN_MERGE},"labels":{"a":"1","a":"2"},"nope":1}}`,
      `{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap","metadata":{"labels":{"a":"2"},"name":"a","namespace":"default","nope":1}}`,
      ['duplicate field "metadata.labels.a"', 'unknown field "metadata.nope"'],
    ],
  ];

  test.each(cases)(
    'rejects, warns about or ignores unknown and duplicate fields %s according to fieldValidation',
    async (_name, patch, document, findings) => {
      const error = await failureOf(() => send(patch, 'Strict'));
      expect(error.code).toBe(422);
      expect(causeOf(error)).toBe(`${printed(document)}: strict decoding error: ${findings.join(', ')}`);
      await send(patch, 'Warn');
      expect(warnings).toEqual(findings);
      warnings.length = 0;
      await send(patch, 'Ignore');
      expect(warnings).toEqual([]);
    },
  );

  test('reports no unknown fields if the patched document cannot be decoded', async () => {
    const error = await failureOf(() => send(`[${labels},{"op":"add","path":"/data/k","value":1}]`, 'Strict'));
    expect(error.message).toContain('cannot unmarshal number');
    expect(error.message).not.toContain('duplicate field');
    expect(error.warnings).toEqual([]);
  });
});

describe('numbers in a patch', () => {
  beforeEach(async () => {
    const labels = { app: 'd' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await cluster.api(Deployment).create({
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: labels }, template },
    });
  });

  const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };
  const refused = async (text: string) => (await failureOf(() => send(text, 'Warn', deployments, 'd'))).message;

  test.each(['3.0', '4e0', '1.50', '4294967296'])(
    'rejects the patched number %s for an integer field and prints it as it was sent',
    async (n) => {
      const message = `json: cannot unmarshal number ${n} into Go struct field DeploymentSpec.spec.replicas of type int32`;
      for (const patch of [`{"spec":{"replicas":${n}}}`, `[{"op":"replace","path":"/spec/replicas","value":${n}}]`]) {
        const text = await refused(patch);
        expect(text).toContain(message);
        expect(text).toContain(`\\"replicas\\":${n},`);
      }
    },
  );

  test('reports a patched number with its field if it is an IntOrString', async () => {
    expect(await refused('{"spec":{"strategy":{"rollingUpdate":{"maxSurge":1.5}}}}')).toMatch(
      /cannot unmarshal number 1\.5 into Go struct field RollingUpdateDeployment\.spec\.strategy\.rollingUpdate\.maxSurge of type int32$/,
    );
  });

  test('decodes numbers in a create like in a patch', async () => {
    const body = jsonBody('{"metadata":{"name":"e"},"spec":{"replicas":2.0}}');
    const created = () =>
      cluster.send({ verb: 'create', resource: deployments, namespace: 'default', options: {}, body });
    expect((await failureOf(created)).message).toBe(
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 2.0 into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
  });
});
