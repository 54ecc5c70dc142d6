/**
 * Every namespace that is not going away has its service accounts: `default`, unless others are asked for.
 */
import { Namespace } from '../kinds/core/v1/namespace.js';
import { ServiceAccount } from '../kinds/core/v1/service-account.js';
import { StatusError } from '../meta/errors.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { Controller } from './runtime/controller.js';
import { isNamespaceTerminating } from './runtime/refusals.js';

export interface ServiceAccountsOptions {
  /** The accounts that each namespace has; `['default']` unless given. */
  readonly names?: readonly string[] | undefined;
}

const OPTIONS = ['names'] as const satisfies readonly (keyof ServiceAccountsOptions)[];

/**
 * Makes the service accounts that every namespace has, and makes them again when somebody deletes one.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceAccounts({ names: ['default', 'builder'] })]) });
 */
export function serviceAccounts(options: ServiceAccountsOptions = {}): Controller {
  refuseUnknownOptions('serviceAccounts', options, OPTIONS);
  const { names = ['default'] } = options;
  return {
    name: 'serviceaccount-controller',
    account: 'service-account-controller',
    needs: [Namespace, ServiceAccount],
    start(context) {
      const namespaces = context.informer(Namespace);
      const accounts = context.informer(ServiceAccount);

      const queue = context.queue(async (key) => {
        const namespace = namespaces.at(key);
        if (namespace?.status.phase !== 'Active') return;
        for (const name of names) {
          if (accounts.get(name, key) !== undefined) continue;
          try {
            await context.client.api(ServiceAccount, key).create({ metadata: { name, namespace: key } });
          } catch (error) {
            if (!isSettled(error)) throw error;
          }
        }
      });

      namespaces.onKey((key) => queue.add(key));
      accounts.subscribe(({ type, object }) => {
        if (type === 'DELETED') queue.add(object.metadata.namespace ?? '');
      });
    },
  };
}

/** Made by somebody else, or too late: the namespace began to go, or is gone. */
function isSettled(error: unknown): boolean {
  return StatusError.is(error, 'AlreadyExists') || StatusError.is(error, 'NotFound') || isNamespaceTerminating(error);
}
