/**
 * IPAddress and ServiceCIDR in v1beta1, with the fields of v1.
 */

import { serviceGroup } from '../../meta/dialect.js';
import { anotherVersion } from '../define-kind.js';
import type { IPAddressKind, ServiceCIDRKind } from '../generated/networking-v1.js';
import type { Lifecycle } from '../lifecycle.js';
import { IPAddress } from './v1/ip-address.js';
import { ServiceCIDR } from './v1/service-cidr.js';

const apiVersion = `${serviceGroup('networking')}/v1beta1`;
const lifecycle: Lifecycle = { introducedIn: '1.31' };

export const IPAddressV1beta1: IPAddressKind<IPAddress> = anotherVersion(IPAddress, {
  apiVersion,
  lifecycle,
  ownTypes: ['IPAddressSpec', 'ParentReference'],
});

export const ServiceCIDRV1beta1: ServiceCIDRKind<ServiceCIDR> = anotherVersion(ServiceCIDR, {
  apiVersion,
  lifecycle,
  ownTypes: ['ServiceCIDRSpec', 'ServiceCIDRStatus'],
});
