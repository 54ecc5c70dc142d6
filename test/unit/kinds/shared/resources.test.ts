/** Resource names, quantities and requirements, with the reference server's messages. */
import { describe, expect, test } from 'vitest';
import { goSyntaxQuantity } from '../../../../src/kinds/shared/go-syntax.js';
import type { RequirementsContext, ResourceRequirements } from '../../../../src/kinds/shared/resources.js';
import {
  isExtendedResource,
  isIntegerResource,
  isOvercommitAllowed,
  isStandardContainerResource,
  isStandardQuotaResource,
  isStandardResource,
  validateBasicQuantity,
  validateContainerResourceName,
  validateNonNegativeQuantity,
  validatePositiveQuantity,
  validateQuotaResourceName,
  validateResourceName,
  validateResourceQuantity,
  validateResourceRequirements,
} from '../../../../src/kinds/shared/resources.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import type { FieldError } from '../../../../src/meta/field-error.js';
import { printFieldError } from '../../../../src/meta/field-error.js';

const context = { dialect: kubernetesDialect };
const print = (errors: readonly FieldError[]) => errors.map(printFieldError);
const requirements = (value: ResourceRequirements, more: Partial<RequirementsContext> = {}) =>
  print(validateResourceRequirements('r', value, { ...context, ...more }));

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const NOT_STANDARD = 'must be a standard resource type or fully qualified';
const dump = (value: string, scale: number, s: string, format = 'DecimalSI') =>
  `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${s}", Format:"${format}"}`;

describe('resource name predicates', () => {
  test('recognizes standard resources of containers and quotas', () => {
    const names = ['cpu', 'storage', 'hugepages-2Mi', 'requests.cpu', 'requests.hugepages-2Mi', 'pods', 'gpu'];
    const where = (isStandard: (name: string) => boolean) => names.filter((name) => isStandard(name));
    expect(where(isStandardContainerResource)).toEqual(['cpu', 'hugepages-2Mi']);
    expect(where(isStandardQuotaResource)).toEqual(names.filter((name) => name !== 'storage' && name !== 'gpu'));
    expect(where(isStandardResource)).toEqual(names.filter((name) => name !== 'gpu'));
  });

  test('recognizes extended resources', () => {
    const extended = (name: string, dialect = kubernetesDialect) => isExtendedResource(name, { dialect });
    expect(extended('example.com/gpu')).toBe(true);
    expect(extended('count/configmaps')).toBe(true);
    expect(extended('requests.example.com/gpu')).toBe(false);
    expect(extended('cpu')).toBe(false);
    expect(extended(kubernetesDialect.key('x'))).toBe(false);
    expect(extended(kubernetesDialect.subkey('a', 'x'))).toBe(false);
    expect(extended(kubernetesDialect.key('x'), orchDialect)).toBe(true);
    expect(extended(`${'a'.repeat(245)}/x`)).toBe(false);
  });

  test('recognizes integer resources and resources without overcommit', () => {
    expect(['pods', 'cpu', 'a.b/c'].map((name) => isIntegerResource(name, context))).toEqual([true, false, true]);
    expect(['cpu', 'hugepages-1Gi', 'a.b/c'].map((name) => isOvercommitAllowed(name, context))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('resource names', () => {
  test.each([
    ['cpu', []],
    ['storage', []],
    ['a.b/c', []],
    ['gpu', [`p: Invalid value: gpu: ${NOT_STANDARD}`]],
    ['a b', [`p: Invalid value: a b: ${NAME_PART}`]],
  ])('validates the resource name %s in general', (name, errors) => {
    expect(print(validateResourceName('p', name))).toEqual(errors);
  });

  test.each([
    ['hugepages-2Mi', []],
    ['a.b/c', []],
    [kubernetesDialect.key('c'), []],
    ['storage', ['p: Invalid value: storage: must be a standard resource for containers']],
    [
      'gpu',
      [`p: Invalid value: gpu: ${NOT_STANDARD}`, 'p: Invalid value: gpu: must be a standard resource for containers'],
    ],
    [
      'a b',
      [`p: Invalid value: a b: ${NAME_PART}`, 'p: Invalid value: a b: must be a standard resource for containers'],
    ],
    ['requests.a.b/c', ["p: Invalid value: requests.a.b/c: doesn't follow extended resource name standard"]],
  ])('validates the resource name %s in containers', (name, errors) => {
    expect(print(validateContainerResourceName('p', name, context))).toEqual(errors);
  });

  test.each([
    ['requests.storage', []],
    ['count/deployments.apps', []],
    ['storage', ['p: Invalid value: storage: must be a standard resource for quota']],
    ['gpu', [`p: Invalid value: gpu: ${NOT_STANDARD}`, 'p: Invalid value: gpu: must be a standard resource for quota']],
  ])('validates the resource name %s in quotas', (name, errors) => {
    expect(print(validateQuotaResourceName('p', name))).toEqual(errors);
  });
});

describe('quantities', () => {
  test('rejects negative quantities, printed in canonical form', () => {
    expect(print(validateNonNegativeQuantity('p', '0'))).toEqual([]);
    expect(print(validateNonNegativeQuantity('p', '-0.5'))).toEqual([
      'p: Invalid value: "-500m": must be greater than or equal to 0',
    ]);
  });

  test('rejects quantities of volumes that are not positive', () => {
    expect(print(validatePositiveQuantity('p', '1Gi'))).toEqual([]);
    expect(print(validatePositiveQuantity('p', '0'))).toEqual(['p: Invalid value: "0": must be greater than zero']);
    expect(print(validateBasicQuantity('p', '-1'))).toEqual([
      'p: Invalid value: -1: must be a valid resource quantity',
    ]);
    expect(print(validateBasicQuantity('p', '0'))).toEqual([]);
  });

  test.each([
    ['pods', '3', []],
    ['cpu', '1500m', []],
    ['pods', '2000m', []],
    ['pods', '1500m', [`p: Invalid value: ${dump('1500', -3, '1500m')}: must be an integer`]],
    ['a.b/c', '-1', ['p: Invalid value: "-1": must be greater than or equal to 0']],
    [
      'count/pods',
      '-500m',
      [
        'p: Invalid value: "-500m": must be greater than or equal to 0',
        `p: Invalid value: ${dump('-500', -3, '-500m')}: must be an integer`,
      ],
    ],
  ])('validates the quantity of %s: %s', (name, quantity, errors) => {
    expect(print(validateResourceQuantity('p', quantity, { ...context, name }))).toEqual(errors);
  });

  test.each([
    ['2', dump('2', 0, '2')],
    ['0', dump('0', 0, '0')],
    ['1.5', dump('15', -1, '')],
    ['0.5', dump('5', -1, '')],
    ['5k', dump('5', 3, '5k')],
    ['2Mi', dump('2097152', 0, '2Mi', 'BinarySI')],
    ['8Mi', dump('8388608', 0, '', 'BinarySI')],
    ['1e3', dump('1', 3, '1e3', 'DecimalExponent')],
  ])('prints the quantity %s in Go syntax', (text, expected) => {
    expect(goSyntaxQuantity(text).verbatim).toBe(expected);
  });

  test('prints wide numbers with a pointer', () => {
    expect(goSyntaxQuantity('12345678901234567890').verbatim).toMatch(
      /value:0, scale:0}.*\(0xc0.*s:"", Format:"DecimalSI"/,
    );
  });
});

describe('resource requirements', () => {
  test.each<[string, ResourceRequirements, string[]]>([
    ['no values', {}, []],
    ['valid values', { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '100m' } }, []],
    [
      'a request above its limit',
      { requests: { cpu: '2' }, limits: { cpu: '1' } },
      ['r.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
    ],
    [
      'an extended resource whose request differs from its limit',
      { requests: { 'a.b/c': '1' }, limits: { 'a.b/c': '2' } },
      ['r.requests: Invalid value: "1": must be equal to a.b/c limit of 2'],
    ],
    [
      'an extended resource without a limit',
      { requests: { 'a.b/c': '1' } },
      ['r.limits: Required value: Limit must be set for non overcommitable resources'],
    ],
    [
      'a negative limit that became the request',
      { limits: { cpu: '-1' }, requests: { cpu: '-1' } },
      [
        'r.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'r.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    ['only huge pages', { limits: { 'hugepages-2Mi': '2Mi' } }, ['r: Forbidden: HugePages require cpu or memory']],
    [
      'a fraction of a huge page',
      { limits: { 'hugepages-2Mi': '3Mi', memory: '1Gi' } },
      ['r.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi'],
    ],
    [
      'huge pages of an invalid size',
      { limits: { 'hugepages-x': '2Mi', cpu: '1' }, requests: { 'hugepages-x': '1Mi' } },
      [
        'r.limits[hugepages-x]: Invalid value: "2Mi": 2Mi is not positive integer multiple of hugepages-x',
        'r.requests: Invalid value: "1Mi": must be equal to hugepages-x limit of 2Mi',
        'r.requests[hugepages-x]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-x',
      ],
    ],
    [
      'invalid names, in the order of the names',
      { limits: { b: '1', a: '1' } },
      ['a', 'b'].flatMap((name) => [
        `r.limits[${name}]: Invalid value: ${name}: ${NOT_STANDARD}`,
        `r.limits[${name}]: Invalid value: ${name}: must be a standard resource for containers`,
      ]),
    ],
  ])('validates resource requirements with %s', (_, value, errors) => {
    expect(requirements(value)).toEqual(errors);
  });

  test('accepts indivisible huge pages if they are allowed', () => {
    const limits = { 'hugepages-2Mi': '3Mi', memory: '1Gi' };
    expect(requirements({ limits }, { allowIndivisibleHugePages: true })).toEqual([]);
  });

  test.each<[string, ResourceRequirements['claims'], string[]]>([
    ['whole claims', [{ name: 'a' }, { name: 'b' }], []],
    [
      'two requests of one claim',
      [
        { name: 'a', request: 'x' },
        { name: 'a', request: 'y' },
      ],
      [],
    ],
    ['a claim without a name', [{}], ['r.claims[0]: Required value']],
    ['a repeated claim', [{ name: 'a' }, { name: 'a', request: 'x' }], ['r.claims[1]: Duplicate value: "a"']],
    [
      'a repeated request',
      [
        { name: 'a', request: 'x' },
        { name: 'a', request: 'x' },
      ],
      ['r.claims[1]: Duplicate value: "a/x"'],
    ],
    ['a request and its claim', [{ name: 'a', request: 'x' }, { name: 'a' }], ['r.claims[1]: Duplicate value: "a"']],
    [
      'an invalid request',
      [{ name: 'a', request: 'x.y' }],
      ['r.claims[0].request: Invalid value: "x.y": must not contain dots'],
    ],
    [
      'an unknown claim',
      [{ name: 'c' }],
      ['r.claims[0]: Not found: "c": must be one of the names in pod.spec.resourceClaims: a, b'],
    ],
  ])('validates resource claims: %s', (_, claims, errors) => {
    expect(requirements({ claims }, { podClaimNames: new Set(['b', 'a']) })).toEqual(errors);
  });

  test('rejects a claim if the Pod has none', () => {
    expect(requirements({ claims: [{ name: 'c' }] })).toEqual([
      'r.claims[0]: Not found: "c": must be one of the names in pod.spec.resourceClaims which is empty',
    ]);
  });
});
