/** Validation of DeviceClasses, in every version. */
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import {
  DeviceClass,
  type DeviceClassInput,
  DeviceClassV1alpha3,
  DeviceClassV1beta1,
} from '../../../../src/kinds/index.js';
import { rejectionCauses } from '../rejections.js';

const clusterOf = () =>
  testCluster({ featureGates: { DynamicResourceAllocation: true }, runtimeConfig: 'api/all=true' });
const input = (spec: object) =>
  ({ metadata: { name: 'a' }, spec }) as DeviceClassInput & { metadata: { name: string } };
const create = (spec: object) => clusterOf().api(DeviceClass).create(input(spec));

const selector = (expression = 'true') => ({ cel: { expression } });
const LIST = '[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]';
const config = (opaque: object) => ({ config: [{ opaque: { driver: 'd', parameters: {}, ...opaque } }] });
const AT = 'spec.config[0].opaque';
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

describe('a DeviceClass', () => {
  test('has a new generation when null becomes an empty list in parameters, but not in its own lists', async () => {
    const classes = clusterOf().api(DeviceClass);
    const generationOf = async (spec: object) => (await classes.update(input(spec))).metadata.generation;
    await classes.create(input(config({ parameters: { a: [null] } })));
    expect(await generationOf(config({ parameters: { a: [[]] } }))).toBe(2);
    expect(await generationOf({ ...config({ parameters: { a: [[]] } }), selectors: [] })).toBe(2);
    expect(await generationOf({})).toBe(3);
    expect(await generationOf({ config: [] })).toBe(3);
  });

  test.each([
    ['an empty selector', { selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
    [
      'an empty expression',
      { selectors: [selector('')] },
      [
        expect.stringContaining(
          'spec.selectors[0].cel.expression: Invalid value: "": compilation failed: ERROR: <input>:1:0',
        ),
      ],
    ],
    [
      'a selector that is not boolean',
      { selectors: [selector('1 + 1')] },
      ['spec.selectors[0].cel.expression: Invalid value: "1 + 1": must evaluate to bool or the unknown type, not int'],
    ],
    [
      'a selector with an undeclared variable',
      { selectors: [selector(), selector('object.spec')] },
      [
        "spec.selectors[1].cel.expression: Invalid value: \"object.spec\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'object' (in container '')\n | object.spec\n | ^",
      ],
    ],
    [
      'a selector above the cost limit',
      {
        selectors: [
          selector(
            `${LIST}.all(a, ${LIST}.all(b, ${LIST}.all(c, ${LIST}.all(d, ${LIST}.all(e, a + b + c + d + e > 0)))))`,
          ),
        ],
      },
      ['spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit'],
    ],
    [
      'an invalid regular expression',
      { selectors: [selector('device.driver.find("[") == ""')] },
      [
        'spec.selectors[0].cel.expression: Internal error: program instantiation failed: error parsing regexp: missing closing ]: `[`',
      ],
    ],
    [
      'a function that only stored expressions may use',
      { selectors: [selector('isSemver("v1", true)')] },
      [expect.stringContaining("found no matching overload for 'isSemver' applied to '(string, bool)'")],
    ],
    [
      'an expression that is too long',
      { selectors: [selector('x'.repeat(10241))] },
      ['spec.selectors[0].cel.expression: Too long: may not be more than 10240 bytes'],
    ],
    [
      'too many selectors',
      { selectors: Array.from({ length: 33 }, () => selector()) },
      ['spec.selectors: Too many: 33: must have at most 32 items'],
    ],
    ['an empty configuration', { config: [{}] }, [`${AT}: Required value`]],
    [
      'no driver',
      config({ driver: '' }),
      [`${AT}.driver: Required value`, `${AT}.driver: Invalid value: "": ${SUBDOMAIN}`],
    ],
    ['no parameters', config({ parameters: null }), [`${AT}.parameters: Required value`]],
    [
      'parameters that are not an object',
      config({ parameters: [1] }),
      [`${AT}.parameters: Invalid value: "<value omitted>": parameters must be a valid JSON object`],
    ],
    [
      'large parameters',
      config({ parameters: { a: 'x'.repeat(10240) } }),
      [`${AT}.parameters: Too long: may not be more than 10240 bytes`],
    ],
    [
      'too many configurations',
      { config: Array.from({ length: 33 }, () => config({}).config[0]) },
      ['spec.config: Too many: 33: must have at most 32 items'],
    ],
  ])('rejects %s', async (_what, spec, expected) => {
    expect(await rejectionCauses(create(spec))).toEqual(expected);
  });

  test.each([
    'device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.0.0"))',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0',
    'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "a" && gpu.ecc)',
    'device.attributes["gpu.example.com"].isVirtual',
  ])('accepts the selector %s', async (expression) => {
    expect((await create({ selectors: [selector(expression)] })).spec.selectors).toEqual([selector(expression)]);
  });

  test('reports a problem of a changed selector twice', async () => {
    const classes = clusterOf().api(DeviceClass);
    const first = await classes.create(input({ selectors: [selector()] }));
    const spec = { selectors: [selector('device.driver')] };
    const problem =
      'spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string';
    expect(await rejectionCauses(classes.update({ ...first, spec }))).toEqual([problem, problem]);
  });

  test('increments its generation, and reports a problem of an update twice', async () => {
    const classes = clusterOf().api(DeviceClass);
    const first = await classes.create(input({}));
    const second = await classes.update({ ...first, spec: { selectors: [selector()] } });
    expect([first.metadata.generation, second.metadata.generation]).toEqual([1, 2]);
    const labelled = await classes.update({ ...second, metadata: { ...second.metadata, labels: { k: 'v' } } });
    expect(labelled.metadata.generation).toBe(2);
    expect(await rejectionCauses(classes.update({ ...labelled, spec: { config: [{}] } }))).toEqual([
      `${AT}: Required value`,
      `${AT}: Required value`,
    ]);
  });

  test('serves the same DeviceClass in every version', async () => {
    const cluster = clusterOf();
    const { spec } = await cluster.api(DeviceClassV1beta1).create(input({ selectors: [selector()], ...config({}) }));
    expect((await cluster.api(DeviceClass).get('a')).spec).toEqual(spec);
    expect((await cluster.api(DeviceClassV1alpha3).get('a')).spec).toEqual(spec);
  });
});
