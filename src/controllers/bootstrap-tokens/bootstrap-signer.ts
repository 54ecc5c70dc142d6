/**
 * Signs the ConfigMap kube-public/cluster-info with bootstrap tokens. A client that knows a token can then verify the
 * address and certificate of the server before it trusts it.
 */
import { ConfigMap } from '../../kinds/core/v1/config-map.js';
import { Secret } from '../../kinds/core/v1/secret.js';
import { StatusError } from '../../meta/errors.js';
import { encodeBase64Url } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';
import { own, setOwn } from '../../util/json.js';
import type { Controller } from '../runtime/controller.js';
import { type BootstrapToken, isTokenSecret, signingToken, TOKEN_NAMESPACE } from './token-secret.js';

const NAMESPACE = 'kube-public';
const NAME = 'cluster-info';
const KEY = `${NAMESPACE}/${NAME}`;
/** The signed part of the ConfigMap. */
const CONTENT = 'kubeconfig';
/** The keys of signatures consist of this and the id of the token. */
const SIGNATURE = 'jws-kubeconfig-';

/**
 * Keeps a signature of `kubeconfig` in kube-public/cluster-info for each bootstrap token that may sign.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([bootstrapSigner(), tokenCleaner()]) });
 */
export function bootstrapSigner(): Controller {
  return {
    name: 'bootstrap-signer-controller',
    account: 'bootstrap-signer',
    needs: [ConfigMap, Secret],
    start(context) {
      const { dialect, clock, client } = context;
      const configMaps = context.informer(ConfigMap);
      const secrets = context.informer(Secret);

      const queue = context.queue(async () => {
        const configMap = configMaps.at(KEY);
        const content = configMap?.data?.[CONTENT];
        if (configMap === undefined || content === undefined) return;
        const tokens = secrets.list(TOKEN_NAMESPACE).flatMap((secret) => {
          const token = isTokenSecret(secret, dialect) ? signingToken(secret, clock.now()) : undefined;
          return token ?? [];
        });
        const { data = {} } = configMap;
        const signed: Record<string, string> = {};
        for (const [key, value] of Object.entries(data)) if (!key.startsWith(SIGNATURE)) setOwn(signed, key, value);
        for (const token of tokens) signed[`${SIGNATURE}${token.id}`] = await detachedSignature(content, token);
        const keys = new Set([...Object.keys(data), ...Object.keys(signed)]);
        if ([...keys].every((key) => own(data, key) === own(signed, key))) return;
        try {
          await client.api(ConfigMap, NAMESPACE).update({ ...configMap, data: signed });
        } catch (error) {
          // The ConfigMap was deleted meanwhile. A conflict is retried by the queue.
          if (!StatusError.is(error, 'NotFound')) throw error;
        }
      });

      configMaps.onKey((key, { type }) => {
        if (key === KEY && type !== 'DELETED') queue.add(KEY);
      });
      secrets.subscribe(({ object }) => {
        if (isTokenSecret(object, dialect)) queue.add(KEY);
      });
    },
  };
}

/** A JSON Web Signature (HS256) in compact serialization, without its content. */
async function detachedSignature(content: string, token: BootstrapToken): Promise<string> {
  const subtle = subtleCrypto();
  if (subtle === undefined) {
    throw new Error('orchplane: signatures need crypto.subtle, which pages have only in a secure context');
  }
  const encode = (text: string) => encodeBase64Url(new TextEncoder().encode(text));
  const header = encode(JSON.stringify({ alg: 'HS256', kid: token.id }));
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', new TextEncoder().encode(token.secret), algorithm, false, ['sign']);
  const signature = await subtle.sign(algorithm.name, key, new TextEncoder().encode(`${header}.${encode(content)}`));
  return `${header}..${encodeBase64Url(new Uint8Array(signature))}`;
}
