/**
 * Labels and annotations of endpoints in both forms.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';

/** Which service a slice belongs to. */
export function serviceNameLabel(dialect: Dialect): string {
  return dialect.key('service-name');
}

/** Who writes a slice. */
export function managedByLabel(dialect: Dialect): string {
  return dialect.subkey('endpointslice', 'managed-by');
}

/** What {@link managedByLabel} holds for one of the service's own controllers. */
export function manager(dialect: Dialect, controller: string): string {
  return dialect.group(serviceGroup(controller));
}

/** On everything that belongs to a service without an address of its own. */
export function headlessLabel(dialect: Dialect): string {
  return dialect.subkey('service', 'headless');
}

export function triggerTimeAnnotation(dialect: Dialect): string {
  return dialect.subkey('endpoints', 'last-change-trigger-time');
}

/** Former ways of electing a leader kept their record in Endpoints. */
export function leaderAnnotation(dialect: Dialect): string {
  return dialect.subkey('control-plane.alpha', 'leader');
}
