/**
 * The Shell of the page: its current cluster, user, namespace and editor. Requests go through the session, which logs
 * them; streams go to the cluster directly, because the session does not support them.
 */
import type { User } from 'orchplane';
import { ADMINISTRATOR, type Session } from '../session/session.js';
import { clusterFetch, clusterShell } from './cluster-shell.js';
import type { Shell } from './command.js';
import type { Fetch } from './server.js';

/** `from` is the name of the sender in the request log. */
export function sessionShell(session: Session, from: string): Shell {
  const shell = clusterShell(() => session.cluster, {
    fetch: sessionFetch(session, from),
    editorText: () => session.state.text,
    openInEditor: (text) => session.setText(text),
    namespace: () => session.state.namespace,
    setNamespace: (namespace) => session.store.set({ namespace }),
    identity() {
      const { user } = session.state;
      // Requests without an identity come from the administrator.
      return user.user === ADMINISTRATOR.user ? {} : { user: user.user, groups: user.groups ?? [] };
    },
  });
  return {
    ...shell,
    async apply(text, request) {
      const report = await shell.apply(text, request);
      if (!request.dryRun && report.some(({ outcome }) => outcome !== 'failed')) session.markWritten();
      return report;
    },
  };
}

/** Requests for discovery and schemas are not logged. */
const UNLOGGED_PATHS = /^\/(?:apis?(?:\/[^/]+)?|openapi\/.*)$/;

function sessionFetch(session: Session, from: string): Fetch {
  const direct = clusterFetch(() => session.cluster);
  return async (request) => {
    const { pathname, search, searchParams } = new URL(request.url);
    if (['watch', 'follow'].some((name) => searchParams.get(name) === 'true')) return direct(request);
    const body = await request.text();
    const contentType = request.headers.get('content-type');
    const answer = await session.request(pathname + search, {
      method: request.method,
      accept: request.headers.get('accept') ?? 'application/json',
      as: userOf(request),
      ...(body === '' ? {} : { body }),
      ...(contentType === null ? {} : { contentType }),
      ...(UNLOGGED_PATHS.test(pathname) ? {} : { from }),
    });
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const warning of answer.warnings) headers.append('warning', `299 - ${JSON.stringify(warning)}`);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return new Response(text, { status: answer.code, headers });
  };
}

function userOf({ headers }: Request): User {
  const user = headers.get('impersonate-user');
  if (user === null) return ADMINISTRATOR;
  const groups = headers.get('impersonate-group')?.split(', ') ?? [];
  return { user, groups };
}
