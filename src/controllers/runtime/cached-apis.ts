/**
 * A client that caches the last `Api` per kind. Controllers write to the same few kinds of one namespace repeatedly.
 */
import type { Api } from '../../client/api.js';
import type { Client, NamespaceOf } from '../../client/client.js';
import type { Kind } from '../../kinds/kind.js';

interface Last {
  readonly namespace: string | undefined;
  readonly api: unknown;
}

export function withCachedApis(client: Client): Client {
  const lastOf = new WeakMap<Kind, Last>();
  return {
    api: <AnyKind extends Kind>(kind: AnyKind, ...place: NamespaceOf<AnyKind>): Api<AnyKind> => {
      const [namespace] = place as readonly [namespace?: string];
      let last = lastOf.get(kind);
      if (last === undefined || last.namespace !== namespace) {
        last = { namespace, api: client.api(kind, ...place) };
        lastOf.set(kind, last);
      }
      return last.api as Api<AnyKind>;
    },
    all: (kind) => client.all(kind),
    with: (defaults) => client.with(defaults),
  };
}
