/**
 * The CIDR of the default ServiceCIDR, from which cluster IPs are allocated.
 */
export const DEFAULT_SERVICE_CIDR = '10.0.0.0/16';
