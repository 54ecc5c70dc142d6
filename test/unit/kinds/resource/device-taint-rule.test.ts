/** Validation of DeviceTaintRules. */
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { DeviceTaintRule, type DeviceTaintRuleInput } from '../../../../src/kinds/index.js';
import { rejectionCauses } from '../rejections.js';

const rules = () =>
  testCluster({ featureGates: { DRADeviceTaints: true }, runtimeConfig: 'api/all=true' }).api(DeviceTaintRule);
const taint = { key: 'k', effect: 'NoSchedule' };
const create = (spec: object) =>
  rules().create({ metadata: { name: 'a' }, spec: { taint, ...spec } } as DeviceTaintRuleInput);

test('sets timeAdded unless the client does', async () => {
  expect((await create({})).spec.taint).toEqual({ ...taint, timeAdded: '2030-01-01T00:00:00Z' });
  const timeAdded = '2020-01-01T00:00:00Z';
  expect((await create({ taint: { ...taint, timeAdded } })).spec.taint).toEqual({ ...taint, timeAdded });
});

test.each([
  ['no effect', { taint: { key: 'k' } }, ['spec.taint.effect: Required value']],
  [
    'an unknown effect',
    { taint: { key: 'k', effect: 'PreferNoSchedule' } },
    ['spec.taint.effect: Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule"'],
  ],
  [
    'no key',
    { taint: { effect: 'NoExecute' } },
    [
      'spec.taint.key: Invalid value: "": name part must be non-empty',
      expect.stringMatching(/^spec\.taint\.key: .*name part must consist/),
    ],
  ],
  [
    'an invalid value',
    { taint: { ...taint, value: '-' } },
    [expect.stringMatching(/^spec\.taint\.value: Invalid value: "-": a valid label must be/)],
  ],
  [
    'invalid selector fields',
    { deviceSelector: { deviceClassName: '_', driver: '_', pool: '', device: 'a.b', selectors: [{}] } },
    [
      expect.stringMatching(/^spec\.deviceSelector\.deviceClassName: Invalid value: "_"/),
      expect.stringMatching(/^spec\.deviceSelector\.driver: Invalid value: "_"/),
      'spec.deviceSelector.pool: Required value',
      'spec.deviceSelector.device: Invalid value: "a.b": must not contain dots',
      'spec.deviceSelector.selectors[0].cel: Required value',
    ],
  ],
  [
    'an invalid selector expression',
    { deviceSelector: { selectors: [{ cel: { expression: '"x"' } }] } },
    [
      'spec.deviceSelector.selectors[0].cel.expression: Invalid value: "\\"x\\"": must evaluate to bool or the unknown type, not string',
    ],
  ],
])('rejects %s', async (_what, spec, expected) => {
  expect(await rejectionCauses(create(spec))).toEqual(expected);
});
