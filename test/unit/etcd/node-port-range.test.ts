/** The allocation of node ports in etcd. */
import { expect, test } from 'vitest';
import { protobuf } from '../../../src/codec/protobuf/protobuf.js';
import { encodeNodePorts, NodePortRange } from '../../../src/etcd/node-port-range.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

test('knows the ports that another server has allocated', () => {
  const range = new NodePortRange(kubernetesDialect);
  range.receive(encodeNodePorts([30_000, 30_007, 30_008, 32_767], kubernetesDialect), 3);
  for (const port of [30_000, 30_007, 30_008, 32_767]) expect(() => range.change([], [port])).toThrow('stale');
  expect(range.change([], [30_001, 32_766])?.before).toBe(3);
});

test('ignores bits beyond the range', () => {
  const data = Buffer.alloc(1_500_000, 0xff).toString('base64');
  const allocation = { kind: 'RangeAllocation', apiVersion: 'v1', metadata: {}, range: '30000-32767', data };
  const value = protobuf.encode(allocation, { dialect: kubernetesDialect, pretty: false }) as Uint8Array;
  const range = new NodePortRange(kubernetesDialect);
  const spentMs = cpuTimer();
  range.receive(value, 3);
  expect(spentMs()).toBeLessThan(1_000);
  expect(() => range.change([], [30_000])).toThrow('stale');
  expect(range.change([30_000], [])?.value.length).toBeLessThan(1_000);
});
