/**
 * DeviceClass in v1beta1 and v1alpha3; only the Go type names differ.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion } from '../../define-kind.js';
import { deviceClassBody as deviceClassBodyV1alpha3 } from '../../generated/resource-v1alpha3.js';
import { deviceClassBody as deviceClassBodyV1beta1 } from '../../generated/resource-v1beta1.js';
import type { Kind } from '../../kind.js';
import { DeviceClass, type DeviceClassInput } from '../v1beta2/device-class.js';

export const DeviceClassV1beta1: Kind<DeviceClass, DeviceClassInput, 'Cluster', never> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: deviceClassBodyV1beta1,
});

export const DeviceClassV1alpha3: Kind<DeviceClass, DeviceClassInput, 'Cluster', never> = anotherVersion(DeviceClass, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: deviceClassBodyV1alpha3,
});
