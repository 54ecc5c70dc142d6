/** Validation that differs between containers, init containers and ephemeral containers, and of container statuses. */
import { mergePatch } from 'orchplane';
import { Pod, type PodInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const container = { name: 'c', image: 'i' };
const unnamed = { name: '', image: 'i' };

const create = (spec: object, cluster = testCluster()) =>
  cluster
    .api(Pod, 'default')
    .create({ metadata: { name: 'p' }, spec: { containers: [container], ...spec } } as PodInput);

describe('a Pod', () => {
  const port = { containerPort: 80, hostPort: 81 };
  test.each<[string, object, string[]]>([
    [
      'two containers without a name',
      { containers: [unnamed, unnamed] },
      [
        'spec.containers[0].name: Required value',
        'spec.containers[1].name: Required value',
        'spec.containers[1].name: Duplicate value: ""',
      ],
    ],
    [
      'two init containers without a name',
      { initContainers: [unnamed, unnamed] },
      ['spec.initContainers[0].name: Required value', 'spec.initContainers[1].name: Required value'],
    ],
    [
      'an empty resize policy',
      { containers: [{ ...container, resizePolicy: [{ resourceName: '', restartPolicy: '' }] }] },
      ['spec.containers[0].resizePolicy: Required value', 'spec.containers[0].resizePolicy: Required value'],
    ],
    [
      'a different host port on the host network',
      {
        hostNetwork: true,
        containers: [{ ...container, ports: [port] }],
        initContainers: [{ ...container, name: 'f', ports: [port] }],
      },
      [
        'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
      ],
    ],
    [
      'SELinux options on Windows',
      { os: { name: 'windows' }, securityContext: { seLinuxChangePolicy: 'Recursive' } },
      ['spec.securityContext.seLinuxChangePolicy: Forbidden: cannot be set for a windows pod'],
    ],
  ])('rejects a Pod with %s', async (_, spec, problems) => {
    expect(await rejectionCauses(create(spec))).toEqual(problems);
  });

  test('allows a Pod to set the resize policy of init containers', async () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }];
    const { spec } = await create({ initContainers: [{ ...container, name: 'f', resizePolicy }] });
    expect(spec.initContainers?.[0]?.resizePolicy).toEqual(resizePolicy);
  });

  test('allows a Pod to have a long name and a resource claim template', async () => {
    const cluster = testCluster({ featureGates: { DynamicResourceAllocation: true } });
    const name = 'p'.repeat(250);
    const resourceClaims = [{ name: 'long-enough', resourceClaimTemplateName: 't' }];
    const input = { metadata: { name }, spec: { containers: [container], resourceClaims } };
    await expect(cluster.api(Pod, 'default').create(input)).resolves.toBeDefined();
  });
});

test('reports invalid labels of a pod update four times', async () => {
  const cluster = testCluster();
  await create({}, cluster);
  const patch = cluster.api(Pod, 'default').patch('p', mergePatch({ metadata: { labels: { '-': '' } } }));
  expect((await rejectionCauses(patch)).map((problem) => problem.split(':')[0])).toEqual(
    Array(4).fill('metadata.labels'),
  );
});

describe('a container status', () => {
  const ofContainer = { name: 'c', ready: false, restartCount: 0, image: 'i', imageID: '' };
  const at = 'status.containerStatuses[0].allocatedResourcesStatus[0]';
  const health = (name: string, ...resources: readonly object[]) => ({
    containerStatuses: [{ ...ofContainer, allocatedResourcesStatus: [{ name, resources }] }],
  });

  test.each<[object, string[]]>([
    [
      health('example.com/other'),
      [`${at}.name: Invalid value: example.com/other: must match one of the container's resource requests`],
    ],
    [
      health('claim:x'),
      [
        `${at}.name: Invalid value: claim:x: must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
      ],
    ],
    [
      health('example.com/gpu', { resourceID: 'a', health: 'Odd' }, { resourceID: 'a', health: 'Healthy' }),
      [
        `${at}.resources[0].health: Unsupported value: "Odd": supported values: "Healthy", "Unhealthy", "Unknown"`,
        `${at}.resources[1].resourceID: Duplicate value: "a"`,
      ],
    ],
    [
      { ephemeralContainerStatuses: [{ ...ofContainer, allocatedResourcesStatus: [{ name: 'x' }] }] },
      [
        'status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status',
      ],
    ],
  ])('rejects a container status with %j', async (status, problems) => {
    const cluster = testCluster({ featureGates: { ResourceHealthStatus: true } });
    await create({ containers: [{ ...container, resources: { limits: { 'example.com/gpu': '1' } } }] }, cluster);
    const patch = cluster.api(Pod, 'default').status.patch('p', mergePatch({ status } as never));
    expect(await rejectionCauses(patch)).toEqual(problems);
  });

  test('rejects a container status with a Linux user on Windows', async () => {
    const cluster = testCluster();
    await create({ os: { name: 'windows' } }, cluster);
    const status = { containerStatuses: [{ ...ofContainer, user: { linux: { uid: 1, gid: 1 } } }] };
    const patch = cluster.api(Pod, 'default').status.patch('p', mergePatch({ status } as never));
    expect(await rejectionCauses(patch)).toEqual([
      'status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod',
    ]);
  });
});
