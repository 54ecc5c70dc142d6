/**
 * The CIDR of the default ServiceCIDR, from which cluster IPs are allocated.
 */
export const DEFAULT_SERVICE_CIDR = '10.0.0.0/16';

/** Its first address, the cluster IP of the control plane's Service. */
export const CONTROL_PLANE_CLUSTER_IP = '10.0.0.1';
