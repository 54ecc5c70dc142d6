import assert from 'node:assert/strict';
import { DeviceSelectionError, matchDevices } from 'orchplane';

const gpus = [
  { driver: 'gpu.example.com', attributes: { 'gpu.example.com/family': { string: 'ada' } }, capacity: { memory: { value: '40Gi' } } },
  { driver: 'gpu.example.com', attributes: { 'gpu.example.com/family': { string: 'old' } }, capacity: { memory: { value: '8Gi' } } },
];
const large = `device.driver == "gpu.example.com" &&
  device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("10Gi"))`;
assert.deepEqual(matchDevices([large], gpus), [gpus[0]]);

// A selector that asks for what a device does not say is an error, not a no.
assert.throws(() => matchDevices(['device.attributes["gpu.example.com"].cores > 4'], gpus), DeviceSelectionError);
export {};
