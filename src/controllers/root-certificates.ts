/**
 * Publishes the cluster's CA bundle in every namespace as the ConfigMap kube-root-ca.crt, and restores it after changes.
 */
import { ConfigMap } from '../kinds/core/v1/config-map.js';
import { Namespace } from '../kinds/core/v1/namespace.js';
import { DEFAULT_SERVICE, SERVICE_NAME } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { deepEqual } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { Controller } from './runtime/controller.js';
import { isNamespaceTerminating } from './runtime/expected-errors.js';

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

/**
 * A placeholder CA certificate for clusters without TLS. It is well formed, so programs that parse it succeed. Its private key
 * was not kept, so nothing can be signed with it.
 */
export const PLACEHOLDER_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUGH9y9fi7vFU7BzB3M38hotw4Z0gwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMb3JjaHBsYW5lLWNhMCAXDTI2MTExNTIxNTc1MVoYDzIxMjYx
MDIyMjE1NzUxWjAXMRUwEwYDVQQDDAxvcmNocGxhbmUtY2EwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAQdAZhj7muuFrcbzk4br0qz25wx+JwXJjce58vSuju8yhDu
AUb8xxj9NpE1GMrDLqP+sb4zGgL9DdLd7u1nUYA1o2MwYTAdBgNVHQ4EFgQUOzOj
S9iwPj9f318f17Di+nxRkSYwHwYDVR0jBBgwFoAUOzOjS9iwPj9f318f17Di+nxR
kSYwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAqQwCgYIKoZIzj0EAwID
SAAwRQIhAIjFFaZTNOovqzolD/iNR/k/l+e+48y37awxmzLOCELNAiAUhSRAO0jR
Tgz1Wh4tryAL3YHYK9PNXdO53XZYfMBShA==
-----END CERTIFICATE-----
`;
