/**
 * Creates the service accounts of every active namespace: `default`, unless other names are given.
 */
import { Namespace } from '../kinds/core/v1/namespace.js';
import { ServiceAccount } from '../kinds/core/v1/service-account.js';
import { StatusError } from '../meta/errors.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { Controller } from './runtime/controller.js';
import { isNamespaceTerminating } from './runtime/refusals.js';

export interface ServiceAccountsOptions {
  /** The service accounts of each namespace; `['default']` unless given. */
  readonly names?: readonly string[] | undefined;
}

const OPTIONS = ['names'] as const satisfies readonly (keyof ServiceAccountsOptions)[];

/**
 * Creates the service accounts of every namespace, and recreates those that are deleted.
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
            if (!isExpected(error)) throw error;
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

/** The account exists already, or the namespace is being deleted or is gone. */
function isExpected(error: unknown): boolean {
  return StatusError.is(error, 'AlreadyExists') || StatusError.is(error, 'NotFound') || isNamespaceTerminating(error);
}
