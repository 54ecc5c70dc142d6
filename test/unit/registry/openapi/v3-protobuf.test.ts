/** OpenAPI 3 documents in protobuf. The field numbers are those of gnostic's OpenAPIv3.proto. */
import { createFetchHandler } from 'orchplane/http';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { openApiV3Protobuf } from '../../../../src/registry/openapi/v3-protobuf.js';

type Field = readonly [number: number, value: string | boolean | number | readonly Field[]];

/** The bytes of a message: texts and messages are delimited, flags are varints, numbers are 64-bit floats. */
function message(fields: readonly Field[]): number[] {
  return fields.flatMap(([number, value]) => {
    if (typeof value === 'boolean') return [...varint(number * 8), value ? 1 : 0];
    if (typeof value === 'number') {
      return [...varint(number * 8 + 1), ...new Uint8Array(new Float64Array([value]).buffer)];
    }
    const content = typeof value === 'string' ? [...new TextEncoder().encode(value)] : message(value);
    return [...varint(number * 8 + 2), ...varint(content.length), ...content];
  });
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

const encoded = (document: object) => [...openApiV3Protobuf(document as never)];
const schemaOf = (schema: object) => encoded({ components: { schemas: { T: schema } } });
const inSchemas = (...fields: Field[]) =>
  message([
    [
      5,
      [
        [
          1,
          [
            [
              1,
              [
                [1, 'T'],
                [2, [[1, fields]]],
              ],
            ],
          ],
        ],
      ],
    ],
  ]);

describe('OpenAPI 3 in protobuf', () => {
  test('contains operations with parameters, bodies and responses', () => {
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/T' } } };
    const document = {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: 'v1' },
      paths: {
        '/things': {
          post: {
            tags: ['a', 'b'],
            description: 'create',
            operationId: 'createThing',
            parameters: [{ name: 'p', in: 'query', required: true, schema: { type: 'string', uniqueItems: true } }],
            requestBody: { content, required: true },
            responses: { 200: { description: 'OK', content } },
            'x-action': 'post',
          },
          parameters: [{ name: 'q', in: 'path' }],
        },
      },
    };
    const media: Field = [
      1,
      [
        [1, 'application/json'],
        [2, [[1, [[2, [[1, '#/components/schemas/T']]]]]]],
      ],
    ];
    const string: Field = [
      10,
      [
        [
          1,
          [
            [20, true],
            [25, 'string'],
          ],
        ],
      ],
    ];
    const operation: Field[] = [
      [1, 'a'],
      [1, 'b'],
      [3, 'create'],
      [5, 'createThing'],
      [6, [[1, [[1, 'p'], [2, 'query'], [4, true], string]]]],
      [
        7,
        [
          [
            1,
            [
              [2, [media]],
              [3, true],
            ],
          ],
        ],
      ],
      [
        8,
        [
          [
            2,
            [
              [1, '200'],
              [
                2,
                [
                  [
                    1,
                    [
                      [1, 'OK'],
                      [3, [media]],
                    ],
                  ],
                ],
              ],
            ],
          ],
        ],
      ],
      [
        13,
        [
          [1, 'x-action'],
          [2, [[2, '"post"\n']]],
        ],
      ],
    ];
    const path: Field[] = [
      [6, operation],
      [
        13,
        [
          [
            1,
            [
              [1, 'q'],
              [2, 'path'],
            ],
          ],
        ],
      ],
    ];
    expect(encoded(document)).toEqual(
      message([
        [1, '3.0.0'],
        [
          2,
          [
            [1, 'Kubernetes'],
            [6, 'v1'],
          ],
        ],
        [
          4,
          [
            [
              1,
              [
                [1, '/things'],
                [2, path],
              ],
            ],
          ],
        ],
      ]),
    );
  });

  test.each([
    ['', [[3, '']]],
    ['x', [[3, 'x']]],
    [0, [[1, 0]]],
    [80, [[1, 80]]],
    [false, [[2, false]]],
    [{}, []],
  ] as const)('writes the default %j as the reference server does', (value, fields) => {
    expect(schemaOf({ type: 'x', default: value })).toEqual(inSchemas([25, 'x'], [33, fields]));
  });

  test('contains references, combinations, items and additional properties of schemas', () => {
    const reference: Field[] = [[2, [[1, '#/r']]]];
    expect(
      schemaOf({
        allOf: [{ $ref: '#/r' }],
        oneOf: [{ type: 'a' }],
        items: { $ref: '#/r' },
        additionalProperties: false,
        description: 'd',
        format: 'f',
      }),
    ).toEqual(
      inSchemas(
        [26, reference],
        [27, [[1, [[25, 'a']]]]],
        [30, [[1, reference]]],
        [32, [[2, false]]],
        [34, 'd'],
        [35, 'f'],
      ),
    );
  });
});

describe('/openapi/v3', () => {
  const handle = createFetchHandler(testCluster({ dialect: 'kubernetes' }));
  const get = (accept: string) =>
    handle(new Request('http://cluster/openapi/v3/apis/discovery.k8s.io/v1', { headers: { accept } }));

  test.each(['v3@v1.0', 'v3.v1.0'])('serves protobuf as %s', async (version) => {
    const response = await get(`application/com.github.proto-openapi.spec.${version}+protobuf`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/com.github.proto-openapi.spec.v3.v1.0+protobuf');
    const json = await get('application/json');
    expect(response.headers.get('etag')).toBe(json.headers.get('etag'));
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual(encoded((await json.json()) as object));
  });

  test('rejects other media types', async () => {
    expect((await get('text/html')).status).toBe(406);
  });
});
