/**
 * A Shell for a cluster in this process. The page adds its editor and its request log; tests use it without them.
 */
import type { Cluster, User } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import type { ApplyRequest, Shell } from './command.js';
import type { Fetch, Identity } from './server.js';

export type PagePart = Partial<Omit<Shell, 'apply' | 'exec' | 'now'>>;

/** `cluster` is called for each line, because the page may have replaced its cluster. */
export function clusterShell(cluster: () => Cluster, page: PagePart = {}): Shell {
  let text = '';
  let namespace = 'default';
  return {
    fetch: clusterFetch(cluster),
    editorText: () => text,
    openInEditor(opened) {
      text = opened;
    },
    namespace: () => namespace,
    setNamespace(chosen) {
      namespace = chosen;
    },
    identity: () => ({}),
    ...page,
    now: () => cluster().clock.now(),
    async exec({ pod, command, ...options }) {
      return (await cluster().exec(pod, command, options)).exitCode;
    },
    apply: (documents, request) => applyAs(cluster(), documents, request),
  };
}

/** Sends requests to the current cluster. */
export function clusterFetch(cluster: () => Cluster): Fetch {
  let known: { readonly cluster: Cluster; readonly handle: Fetch } | undefined;
  return (request) => {
    const present = cluster();
    if (known?.cluster !== present) {
      const handler = createFetchHandler(present);
      known = { cluster: present, handle: async (each) => handler(each) };
    }
    return known.handle(request);
  };
}

/**
 * Applies as the given user. `applyYaml` uses the cluster's own client, so a middleware sets the user of its requests;
 * the signal distinguishes them from the requests of other clients.
 */
async function applyAs(cluster: Cluster, text: string, { identity, ...options }: ApplyRequest) {
  const { signal } = new AbortController();
  const user = userOf(identity);
  if (user === undefined) return cluster.applyYaml(text, { ...options, onError: 'report' });
  const undo = cluster.use((request, next) => next(request.signal === signal ? { ...request, user } : request));
  try {
    return await cluster.applyYaml(text, { ...options, signal, onError: 'report' });
  } finally {
    undo();
  }
}

export function userOf({ user, groups = [] }: Identity): User | undefined {
  return user === undefined ? undefined : { user, groups };
}
