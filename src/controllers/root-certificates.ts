/**
 * Publishes the cluster's CA bundle in every namespace as the ConfigMap kube-root-ca.crt, and restores it after changes.
 */
import { ConfigMap } from '../kinds/core/v1/config-map.js';
import { Namespace } from '../kinds/core/v1/namespace.js';
import { DEFAULT_SERVICE, SERVICE_NAME } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { deepEqual } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import { PLACEHOLDER_CERTIFICATE } from './root-certificate-text.js';
import type { Controller } from './runtime/controller.js';
import { isNamespaceTerminating } from './runtime/refusals.js';

export interface RootCertificatesOptions {
  /** The CA bundle as PEM text. Absent: a placeholder that cannot verify anything, the same for all clusters. */
  readonly certificate?: string | undefined;
}

const OPTIONS = ['certificate'] as const satisfies readonly (keyof RootCertificatesOptions)[];

/** Pods mount the ConfigMap by this name. */
const NAME = 'kube-root-ca.crt';
const DESCRIPTION = `Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or ${DEFAULT_SERVICE}.default.svc. No other usage is guaranteed across distributions of ${SERVICE_NAME} clusters.`;

/**
 * Keeps the ConfigMap with the CA bundle in each namespace.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([rootCertificates({ certificate: '-----BEGIN CERTIFICATE-----…' })]) });
 */
export function rootCertificates(options: RootCertificatesOptions = {}): Controller {
  refuseUnknownOptions('rootCertificates', options, OPTIONS);
  const data = { 'ca.crt': options.certificate ?? PLACEHOLDER_CERTIFICATE };
  return {
    name: 'root-ca-certificate-publisher-controller',
    account: 'root-ca-cert-publisher',
    needs: [Namespace, ConfigMap],
    start(context) {
      const namespaces = context.informer(Namespace);
      const configMaps = context.informer(ConfigMap);
      const description = { [context.dialect.key('description')]: DESCRIPTION };

      const queue = context.queue(async (namespace) => {
        const known = configMaps.get(NAME, namespace);
        const api = context.client.api(ConfigMap, namespace);
        if (known === undefined) {
          if (namespaces.at(namespace)?.status.phase !== 'Active') return;
          try {
            await api.create({ metadata: { name: NAME, annotations: description }, data });
          } catch (error) {
            // The namespace is being deleted or is gone.
            if (!isNamespaceTerminating(error) && !StatusError.is(error, 'NotFound')) throw error;
          }
          return;
        }
        const { annotations = {} } = known.metadata;
        const isDescribed = Object.keys(description).every((key) => annotations[key]);
        if (isDescribed && deepEqual(known.data, data)) return;
        await api.update({
          ...known,
          metadata: { ...known.metadata, annotations: { ...annotations, ...description } },
          data,
        });
      });

      namespaces.onKey((key, { type, object }) => {
        if (type !== 'DELETED' && object.status.phase === 'Active') queue.add(key);
      });
      configMaps.subscribe(({ type, object }) => {
        const { name, namespace = '' } = object.metadata;
        if (type !== 'ADDED' && name === NAME) queue.add(namespace);
      });
    },
  };
}
