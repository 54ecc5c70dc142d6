/**
 * The networking group.
 */
import type { Kind } from '../kind.js';
import { Ingress } from './v1/ingress.js';
import { IngressClass } from './v1/ingress-class.js';
import { IPAddress } from './v1/ip-address.js';
import { NetworkPolicy } from './v1/network-policy.js';
import { ServiceCIDR } from './v1/service-cidr.js';
import { IPAddressV1beta1, ServiceCIDRV1beta1 } from './v1beta1.js';

export { Ingress, IngressClass, IPAddress, IPAddressV1beta1, NetworkPolicy, ServiceCIDR, ServiceCIDRV1beta1 };

/** The kinds of the group, in the order of discovery. */
export const networkingKinds: readonly Kind[] = [
  IngressClass,
  Ingress,
  IPAddress,
  NetworkPolicy,
  ServiceCIDR,
  IPAddressV1beta1,
  ServiceCIDRV1beta1,
];
