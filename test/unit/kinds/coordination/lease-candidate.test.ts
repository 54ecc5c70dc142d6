/** Validation of LeaseCandidates. */
import { LeaseCandidate, type LeaseCandidateInput, LeaseCandidateV1alpha2 } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

function candidates() {
  const cluster = testCluster();
  cluster.install(LeaseCandidate);
  return cluster.api(LeaseCandidate);
}

const good = {
  leaseName: 'l',
  binaryVersion: '1.33.0',
  emulationVersion: '1.32.0',
  strategy: 'OldestEmulationVersion',
};
const create = (spec: object, name = 'lc') =>
  candidates().create({ metadata: { name }, spec: { ...good, ...spec } } as LeaseCandidateInput);

const NOT_GREATER = 'must be greater than or equal to `emulationVersion`';
const NEEDED = "Required value: must be specified when `strategy` is 'OldestEmulationVersion'";

describe('a LeaseCandidate', () => {
  test.each([
    [{ leaseName: '' }, [['spec.leaseName', 'Required value']]],
    [{ binaryVersion: '' }, [['spec.binaryVersion', 'Required value']]],
    [
      { binaryVersion: 'v1.33.0' },
      [
        ['spec.binaryVersion', 'Invalid value: "v1.33.0": must be a valid semantic version'],
        ['spec.binaryVersion', `Invalid value: "v1.33.0": ${NOT_GREATER}`],
      ],
    ],
    [
      { emulationVersion: 'x' },
      [
        ['spec.emulationVersion', 'Invalid value: "x": must be a valid semantic version'],
        ['spec.emulationVersion', NEEDED],
      ],
    ],
    [{ emulationVersion: '1.34.0' }, [['spec.binaryVersion', `Invalid value: "1.33.0": ${NOT_GREATER}`]]],
    [{ emulationVersion: '' }, [['spec.emulationVersion', NEEDED]]],
    [{ emulationVersion: '0.0.0' }, [['spec.emulationVersion', NEEDED]]],
    [{ strategy: '' }, [['spec.strategy', 'Required value']]],
    [
      { strategy: 'Newest' },
      [['spec.strategy.strategy', 'Unsupported value: "Newest": supported values: "OldestEmulationVersion"']],
    ],
  ])('rejects a LeaseCandidate with %o', async (spec, causes) => {
    await expect(create(spec)).rejects.toMatchObject(
      invalidWith(...causes.map(([field, message]) => [`${field}`, `${message}`] as const)),
    );
  });

  test('requires leaseName, binaryVersion and strategy', async () => {
    const spec = { leaseName: '', binaryVersion: '', emulationVersion: '', strategy: '' };
    await expect(create(spec)).rejects.toMatchObject(
      invalidWith(
        ['spec.leaseName', 'Required value'],
        ['spec.binaryVersion', 'Required value'],
        ['spec.strategy', 'Required value'],
      ),
    );
  });

  test('requires no emulationVersion for a LeaseCandidate with a custom strategy', async () => {
    const { spec } = await create({ strategy: 'example.com/x', emulationVersion: '' });
    expect(spec).toEqual({ leaseName: 'l', binaryVersion: '1.33.0', strategy: 'example.com/x' });
  });

  test('has a name like a config key', async () => {
    expect((await create({}, 'A_B.c')).metadata.name).toBe('A_B.c');
    await expect(create({}, 'a b')).rejects.toMatchObject({
      status: {
        details: { causes: [{ field: 'metadata.name', message: expect.stringContaining('a valid config key') }] },
      },
    });
  });

  test('has an immutable leaseName', async () => {
    const objects = candidates();
    const first = await objects.create({ metadata: { name: 'lc' }, spec: good });
    const change = (spec: object) => objects.update({ ...first, spec: { ...first.spec, ...spec } });
    await expect(change({ leaseName: '' })).rejects.toMatchObject(
      invalidWith(['spec.leaseName', 'Required value'], ['spec.leaseName', 'Invalid value: "": field is immutable']),
    );
    expect((await change({ binaryVersion: '1.34.0' })).spec.binaryVersion).toBe('1.34.0');
  });

  test('serves the same LeaseCandidate in both versions', async () => {
    const cluster = testCluster();
    cluster.install(LeaseCandidate);
    cluster.install(LeaseCandidateV1alpha2);
    const stored = await cluster.api(LeaseCandidate).create({ metadata: { name: 'lc' }, spec: good });
    const shown = await cluster.api(LeaseCandidateV1alpha2).get('lc');
    expect(shown).toEqual({ ...stored, apiVersion: 'coordination.orch.io/v1alpha2' });
  });
});
