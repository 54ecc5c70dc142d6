/**
 * Labels and annotations of Endpoints and EndpointSlices.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';

/** The label with the name of a slice's Service. */
export function serviceNameLabel(dialect: Dialect): string {
  return dialect.key('service-name');
}

/** The label with the manager of a slice. */
export function managedByLabel(dialect: Dialect): string {
  return dialect.subkey('endpointslice', 'managed-by');
}

/** The value of {@link managedByLabel} for a built-in controller. */
export function manager(dialect: Dialect, controller: string): string {
  return dialect.group(serviceGroup(controller));
}

/** The label of Endpoints and slices of headless Services. */
export function headlessLabel(dialect: Dialect): string {
  return dialect.subkey('service', 'headless');
}

export function triggerTimeAnnotation(dialect: Dialect): string {
  return dialect.subkey('endpoints', 'last-change-trigger-time');
}

/** The annotation of the leader election record that old clients stored in Endpoints. */
export function leaderAnnotation(dialect: Dialect): string {
  return dialect.subkey('control-plane.alpha', 'leader');
}
