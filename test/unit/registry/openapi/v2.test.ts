/** The OpenAPI 2 document in JSON and in the protobuf encoding that kubectl requests. */
import { ConfigMap, Role } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { dialects, kubernetesDialect } from '../../../../src/meta/dialect.js';
import { openApiV2Protobuf } from '../../../../src/registry/openapi/v2-protobuf.js';
import { allSteps, servedIn, wholeDocument } from './documents.js';

const WHOLE = wholeDocument(servedIn(kubernetesDialect), kubernetesDialect);

test('returns the header of the OpenAPI 2 document', () => {
  expect(WHOLE).toMatchObject({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'v1.33.1' },
    security: [{ BearerToken: [] }],
    securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
  });
});

test.each(dialects.map((dialect) => [dialect.name, dialect] as const))(
  'contains no dangling references in OpenAPI 2 of the %s dialect',
  (_, dialect) => {
    const document = wholeDocument(servedIn(dialect), dialect);
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/(definitions|parameters)\/([^"]+)"/g)];
    expect(references.length).toBeGreaterThan(1000);
    const dangling = references.filter(
      ([, part = '', name = '']) => !Object.hasOwn(document[part as 'definitions' | 'parameters'], name),
    );
    expect(dangling).toEqual([]);
  },
);

test('keeps descriptions beside references and publishes no defaults in OpenAPI 2', () => {
  expect(WHOLE.definitions['io.k8s.api.apps.v1.DeploymentSpec']?.properties?.['strategy']).toEqual({
    $ref: '#/definitions/io.k8s.api.apps.v1.DeploymentStrategy',
    description: expect.any(String),
    'x-kubernetes-patch-strategy': 'retainKeys',
  });
  expect(JSON.stringify(WHOLE.definitions)).not.toMatch(/"default":(?!\{"(type|\$ref|description|additional))/);
});

test('publishes media types and parameters of an operation in OpenAPI 2', () => {
  const patch = WHOLE.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
  expect(patch).toMatchObject({
    consumes: expect.arrayContaining(['application/apply-patch+yaml']),
    produces: ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
    schemes: ['https'],
    operationId: 'patchAppsV1NamespacedDeployment',
    'x-kubernetes-action': 'patch',
  });
  const names = patch?.parameters?.map((parameter) =>
    JSON.stringify(parameter)
      .match(/(body|force|fieldManager)-[\w-]{6}"|"name":"(\w+)"/)
      ?.slice(1)
      .find(Boolean),
  );
  expect(names).toEqual(['body', 'dryRun', 'fieldManager', 'fieldValidation', 'force']);
});

test('lists all served groups in OpenAPI 2 for types that every group has', () => {
  const document = wholeDocument(servedIn(kubernetesDialect, [ConfigMap, Role]), kubernetesDialect);
  const options = document.definitions['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'];
  expect(options?.['x-kubernetes-group-version-kind']).toEqual([
    { group: '', kind: 'DeleteOptions', version: 'v1' },
    { group: 'rbac.authorization.k8s.io', kind: 'DeleteOptions', version: 'v1' },
  ]);
});

describe('OpenAPI 2 in protobuf', () => {
  const bytes = allSteps(openApiV2Protobuf(WHOLE));
  const document = messageOf(bytes);

  test('contains the parts of the OpenAPI 2 document in protobuf', () => {
    expect(textOf(document, 1)).toBe('2.0');
    expect(textOf(messageOf(one(document, 2)), 1)).toBe('Kubernetes');
    expect(entriesOf(one(document, 9)).map(([name]) => name)).toEqual(Object.keys(WHOLE.definitions));
    expect(entriesOf(one(document, 8), 2).map(([name]) => name)).toEqual(Object.keys(WHOLE.paths));
    expect(entriesOf(one(document, 10)).map(([name]) => name)).toEqual(Object.keys(WHOLE.parameters));
    expect(entriesOf(one(document, 13)).map(([name]) => name)).toEqual(['BearerToken']);
  });

  test('keeps the fields, required fields and extensions of a type', () => {
    const name = 'io.k8s.api.core.v1.ContainerPort';
    const schema = messageOf(new Map(entriesOf(one(document, 9))).get(name) ?? new Uint8Array());
    const expected = WHOLE.definitions[name];
    expect(textOf(schema, 4)).toBe(expected?.description);
    expect(all(schema, 19).map(text)).toEqual(['containerPort']);
    expect(textOf(messageOf(one(schema, 22)), 1)).toBe('object');
    const properties = new Map(entriesOf(one(schema, 25)));
    expect([...properties.keys()]).toEqual(Object.keys(expected?.properties ?? {}));
    expect(textOf(messageOf(properties.get('containerPort') ?? new Uint8Array()), 2)).toBe('int32');
  });

  test('encodes extensions as YAML', () => {
    const pod = messageOf(new Map(entriesOf(one(document, 9))).get('io.k8s.api.core.v1.Pod') ?? new Uint8Array());
    const extension = messageOf(one(pod, 31));
    expect(textOf(extension, 1)).toBe('x-kubernetes-group-version-kind');
    expect(textOf(messageOf(one(extension, 2)), 2)).toBe('[{"group":"","kind":"Pod","version":"v1"}]\n');
  });

  test('encodes lengths of every size', () => {
    // Strings on both sides of each varint boundary.
    for (const size of [1, 120, 124, 125, 126, 127, 128, 129, 16_380, 16_384, 2_097_150]) {
      const swagger = 'é'.repeat(Math.floor(size / 2)) + 'x'.repeat(size % 2);
      const read = messageOf(allSteps(openApiV2Protobuf({ swagger })));
      expect(textOf(read, 1)).toBe(swagger);
    }
  });
});

type Message = readonly (readonly [number: number, bytes: Uint8Array])[];

/** The fields of a message. Flags are single bytes. */
function messageOf(bytes: Uint8Array): Message {
  const fields: [number, Uint8Array][] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const size = (tag & 7) === 2 ? varint() : 1;
    fields.push([tag >>> 3, bytes.subarray(at, at + size)]);
    at += size;
  }
  expect(at).toBe(bytes.length);
  return fields;
}

function all(message: Message, number: number): Uint8Array[] {
  return message.flatMap(([field, bytes]) => (field === number ? [bytes] : []));
}

function one(message: Message, number: number): Uint8Array {
  const [only] = all(message, number);
  if (only === undefined) throw new Error(`no field ${number}`);
  return only;
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function textOf(message: Message, number: number): string {
  return text(one(message, number));
}

function entriesOf(bytes: Uint8Array, number = 1): [string, Uint8Array][] {
  return all(messageOf(bytes), number).map((entry) => {
    const fields = messageOf(entry);
    return [textOf(fields, 1), one(fields, 2)];
  });
}
