/** Mounts and devices of containers, disabled volume sources, and warnings about volumes. */
import { describe, expect, test } from 'vitest';
import { dropDisabledVolumes } from '../../../../src/kinds/core/v1/pod-spec/gates.js';
import {
  type VolumeSourceKind,
  volumeDevicesProblems,
  volumeMountsProblems,
} from '../../../../src/kinds/core/v1/pod-spec/validate-mounts.js';
import { volumesWarnings } from '../../../../src/kinds/core/v1/pod-spec/volume-warnings.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import { type PodSpec, podSpec } from '../../../../src/kinds/generated/core-v1.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import { decode } from '../../../../src/schema/decode.js';
import type { ObjectNode } from '../../../../src/schema/schema-node.js';

const volumeSources: ReadonlyMap<string, VolumeSourceKind> = new Map<string, VolumeSourceKind>([
  ['v', 'persistentVolumeClaim'],
  ['e', 'emptyDir'],
]);

/** Decodes a pod spec as a client sends it, valid or not. */
function received(given: unknown): PodSpec {
  return decode(podSpec().node as ObjectNode, { value: given }).value as unknown as PodSpec;
}

function problemsOf(container: Record<string, unknown>, { privileged = false } = {}): string[] {
  const [one] = received({ containers: [container] }).containers;
  const { volumeMounts: mounts, volumeDevices: devices } = one ?? {};
  const context = { volumeSources, mounts, devices, privileged };
  return [...volumeMountsProblems('M', mounts, context), ...volumeDevicesProblems('D', devices, context)].map(
    printFieldError,
  );
}

describe('volume mounts', () => {
  test.each<[Record<string, unknown>[], string[]]>([
    [
      [
        { name: 'v', mountPath: '/m', subPath: 'a/b' },
        { name: 'v', mountPath: '/n' },
      ],
      [],
    ],
    [[{}], ['M[0].name: Required value', 'M[0].name: Not found: ""', 'M[0].mountPath: Required value']],
    [[{ name: 'z', mountPath: '/m' }], ['M[0].name: Not found: "z"']],
    [
      [
        { name: 'v', mountPath: '/m' },
        { name: 'e', mountPath: '/m' },
      ],
      ['M[1].mountPath: Invalid value: "/m": must be unique'],
    ],
    [
      [{ name: 'v', mountPath: '/m', subPath: '/a/..', subPathExpr: '/b' }],
      [
        'M.subPath: Invalid value: "/a/..": must be a relative path',
        `M.subPath: Invalid value: "/a/..": must not contain '..'`,
        'M[0].subPathExpr: Invalid value: "/b": subPathExpr and subPath are mutually exclusive',
        'M.subPathExpr: Invalid value: "/b": must be a relative path',
      ],
    ],
    [
      [{ name: 'v', mountPath: '/m', mountPropagation: 'Up' }],
      ['M.mountPropagation: Unsupported value: "Up": supported values: "Bidirectional", "HostToContainer", "None"'],
    ],
    [
      [{ name: 'v', mountPath: '/m', mountPropagation: 'Bidirectional' }],
      ['M.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers'],
    ],
    [
      [{ name: 'v', mountPath: '/m', recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }],
      [
        'M.recursiveReadOnly: Forbidden: may only be specified when readOnly is true',
        'M.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified',
      ],
    ],
    [
      [{ name: 'v', mountPath: '/m', recursiveReadOnly: 'Maybe' }],
      ['M.recursiveReadOnly: Unsupported value: "Maybe": supported values: "Disabled", "Enabled", "IfPossible"'],
    ],
  ])('validates the volume mounts %j', (volumeMounts, expected) => {
    expect(problemsOf({ volumeMounts })).toEqual(expected);
  });

  test('accepts bidirectional propagation in a privileged container', () => {
    const volumeMounts = [{ name: 'v', mountPath: '/m', mountPropagation: 'Bidirectional' }];
    expect(problemsOf({ volumeMounts }, { privileged: true })).toEqual([]);
  });
});

describe('volume devices', () => {
  test.each<[Record<string, unknown>, string[]]>([
    [{ volumeDevices: [{ name: 'v', devicePath: '/d' }] }, []],
    [
      { volumeDevices: [{}] },
      ['D[0].name: Required value', 'D[0].name: Not found: ""', 'D[0].devicePath: Required value'],
    ],
    [
      {
        volumeDevices: [
          { name: 'v', devicePath: '/d' },
          { name: 'v', devicePath: '/d' },
        ],
      },
      ['D[1].name: Invalid value: "v": must be unique', 'D[1].devicePath: Invalid value: "/d": must be unique'],
    ],
    [
      { volumeDevices: [{ name: 'e', devicePath: '/d/../e' }] },
      [
        'D[0].name: Invalid value: "e": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        `D[0].devicePath: Invalid value: "/d/../e": can not contain backsteps ('..')`,
      ],
    ],
    [
      {
        volumeDevices: [{ name: 'v', devicePath: '/m' }],
        volumeMounts: [
          { name: 'e', mountPath: '/m' },
          { name: 'v', mountPath: '/n' },
        ],
      },
      [
        'M[0].mountPath: Invalid value: "/m": must not already exist as a path in volumeDevices',
        'M[1].name: Invalid value: "v": must not already exist in volumeDevices',
        'D[0].name: Invalid value: "v": must not already exist in volumeMounts',
        'D[0].devicePath: Invalid value: "/m": must not already exist as a path in volumeMounts',
      ],
    ],
  ])('validates the volume devices of %j', (container, expected) => {
    expect(problemsOf(container)).toEqual(expected);
  });
});

describe('feature gates of volumes', () => {
  const withImage = () =>
    received({
      volumes: [{ name: 'i', image: { reference: 'x' } }],
      containers: [
        {
          name: 'c',
          volumeMounts: [
            { name: 'i', mountPath: '/m' },
            { name: 'w', mountPath: '/n' },
          ],
        },
      ],
    });
  const withBundle = () =>
    received({
      volumes: [{ name: 'v', projected: { sources: [{ clusterTrustBundle: { name: 'n', path: 'p' } }] } }],
      containers: [],
    });
  const off = featureGates();
  const on = featureGates({ AllBeta: true });

  test('removes image volumes and their mounts', () => {
    const spec = withImage();
    dropDisabledVolumes(spec, undefined, off);
    expect(spec.volumes).toBeUndefined();
    expect(spec.containers[0]?.volumeMounts).toEqual([{ name: 'w', mountPath: '/n' }]);
  });

  test('removes trust bundles and keeps the empty source', () => {
    const spec = withBundle();
    dropDisabledVolumes(spec, undefined, off);
    expect(spec.volumes?.[0]?.projected?.sources).toEqual([{}]);
  });

  test.each([withImage, withBundle])('keeps gated volumes if the gate is enabled or the old pod has them', (make) => {
    for (const [live, features] of [[undefined, on] as const, [make(), off] as const]) {
      const spec = make();
      dropDisabledVolumes(spec, live, features);
      expect(spec).toEqual(make());
    }
  });
});

describe('volume warnings', () => {
  const items = (...paths: string[]) => paths.map((path) => ({ key: 'k', path }));

  test.each<[Record<string, unknown>, string[]]>([
    [{ photonPersistentDisk: {} }, ['V[0].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+']],
    [{ gitRepo: {} }, ['V[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+']],
    [{ scaleIO: {} }, ['V[0].scaleIO: deprecated in v1.16, non-functional in v1.22+']],
    [{ flocker: {} }, ['V[0].flocker: deprecated in v1.22, non-functional in v1.25+']],
    [{ storageos: {} }, ['V[0].storageOS: deprecated in v1.22, non-functional in v1.25+']],
    [{ quobyte: {} }, ['V[0].quobyte: deprecated in v1.22, non-functional in v1.25+']],
    [{ glusterfs: {} }, ['V[0].glusterfs: deprecated in v1.25, non-functional in v1.26+']],
    [{ cephfs: {} }, ['V[0].cephfs: deprecated in v1.28, non-functional in v1.31+']],
    [{ rbd: {} }, ['V[0].rbd: deprecated in v1.28, non-functional in v1.31+']],
    [
      { ephemeral: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '1500m' } } } } } },
      [
        'V[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
      ],
    ],
    [
      { configMap: { name: 'c', items: items('a', 'a/', 'ab', 'a/b') } },
      ['"a" with "a"', '"a/b" with "a"', '"a/b" with "a"'].map(
        (overlap) => `volume "v" (ConfigMap "c"): overlapping paths: ${overlap}`,
      ),
    ],
    [
      { secret: { secretName: 's', items: items('a/b', 'a') } },
      ['volume "v" (Secret "s"): overlapping paths: "a" with "a/b"'],
    ],
    [{ downwardAPI: { items: items('a', 'a') } }, ['volume "v" (DownwardAPI): overlapping paths: "a" with "a"']],
    [
      {
        projected: {
          sources: [
            { configMap: { name: 'c', items: items('a') } },
            {},
            { serviceAccountToken: { path: 'a/t' } },
            { clusterTrustBundle: { signerName: 'x/y', path: 'a/t' } },
          ],
        },
      },
      [
        'volume "v" (Projected) has no sources provided',
        'volume "v" (Projected): overlapping paths: "a/t" (ServiceAccountToken) with "a" (ConfigMap "c")',
        'volume "v" (Projected): overlapping paths: "a/t" (ClusterTrustBundle "x/y") with "a" (ConfigMap "c")',
        'volume "v" (Projected): overlapping paths: "a/t" (ClusterTrustBundle "x/y") with "a/t" (ServiceAccountToken)',
      ],
    ],
    // For a source without items the files of the previous source are used.
    [
      { projected: { sources: [{ secret: { name: 's', items: items('a') } }, { configMap: { name: 'c' } }] } },
      ['volume "v" (Projected): overlapping paths: "a" (Secret "s") with "a" (Secret "s")'],
    ],
    // An empty list of items is not the same.
    [{ projected: { sources: [{ serviceAccountToken: { path: 't' } }, { downwardAPI: { items: [] } }] } }, []],
  ])('returns the warnings about the volume source %j', (source, expected) => {
    const { volumes } = received({ volumes: [{ name: 'v', ...source }], containers: [] });
    expect(volumesWarnings('V', volumes)).toEqual(expected);
  });
});
