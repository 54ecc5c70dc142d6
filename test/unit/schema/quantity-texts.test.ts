/** Messages that print quantities in the client's spelling. */
import { Node, PersistentVolume, Pod, ResourceQuota } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { rejectionCauses } from '../kinds/rejections.js';

const goQuantity = (value: number, scale: number, text: string) =>
  `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${text}", Format:"DecimalSI"}`;

test.each([
  ['1.5', goQuantity(15, -1, '')],
  ['1500m', goQuantity(1500, -3, '1500m')],
])('prints %s of a quota as sent', async (pods, printed) => {
  const create = testCluster()
    .api(ResourceQuota)
    .create({ metadata: { name: 'q' }, spec: { hard: { pods } } });
  expect(await rejectionCauses(create)).toEqual([`spec.hard[pods]: Invalid value: ${printed}: must be an integer`]);
});

test('prints the allocatable quantities of a node as sent', async () => {
  const create = testCluster()
    .api(Node)
    .create({ metadata: { name: 'n' }, status: { capacity: { pods: '0.5' } } });
  const problem = `Invalid value: ${goQuantity(5, -1, '')}: must be an integer`;
  expect(await rejectionCauses(create)).toEqual([
    `status.capacity.pods: ${problem}`,
    `status.allocatable.pods: ${problem}`,
  ]);
});

test('prints the capacity of a volume as sent', async () => {
  const spec = { capacity: { pods: '1.5' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } as const;
  const create = testCluster()
    .api(PersistentVolume)
    .create({ metadata: { name: 'v' }, spec });
  expect((await rejectionCauses(create))[0]).toContain(`core.ResourceList{"pods":${goQuantity(15, -1, '')}}`);
});

test.each<[string, object, object, string]>([
  ['of a limit', { limits: { cpu: null } }, { requests: { cpu: '1' } }, 'Limits:   core.ResourceList{s"cpu": {}},'],
  ['of a request', { requests: { memory: null } }, {}, '+ \t\t\t\tRequests: core.ResourceList{s"memory": {}},'],
  [
    'that a limit does not replace',
    { limits: { cpu: null }, requests: { cpu: '0' } },
    {},
    '+ \t\t\t\tRequests: core.ResourceList{s"cpu": {s: "0", Format: "DecimalSI"}},',
  ],
])('prints a quantity %s that was null as a zero value', async (_, resources, before, printed) => {
  const pods = testCluster().api(Pod);
  const pod = (given: object) => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', resources: given }] },
  });
  await pods.create(pod(before) as never);
  const problems = await rejectionCauses(pods.update(pod(resources) as never));
  expect(problems.join().replaceAll('\u00a0', ' ')).toContain(printed);
});
