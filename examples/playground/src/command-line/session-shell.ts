/**
 * The Shell of the page: its present cluster, user, namespace and editor. Requests go through the session, so that they stand
 * in its log; streams, which it does not know, go to the cluster directly.
 */
import type { User } from 'orchplane';
import { ADMINISTRATOR, type Session } from '../session/session.js';
import { clusterFetch, clusterShell } from './cluster-shell.js';
import type { Shell } from './command.js';
import type { Fetch } from './server.js';

/** `from` is who asks, in the log. */
export function sessionShell(session: Session, from: string): Shell {
  const shell = clusterShell(() => session.cluster, {
    fetch: sessionFetch(session, from),
    editorText: () => session.state.text,
    openInEditor: (text) => session.setText(text),
    namespace: () => session.state.namespace,
    setNamespace: (namespace) => session.store.set({ namespace }),
    identity() {
      const { user } = session.state;
      // The administrator is who a request comes from that names nobody.
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

/** What is asked about kinds and schemas is no news to anybody. */
const UNREMARKABLE = /^\/(?:apis?(?:\/[^/]+)?|openapi\/.*)$/;

function sessionFetch(session: Session, from: string): Fetch {
  const direct = clusterFetch(() => session.cluster);
  return async (request) => {
    const { pathname, search, searchParams } = new URL(request.url);
    if (searchParams.get('watch') === 'true') return direct(request);
    const body = await request.text();
    const contentType = request.headers.get('content-type');
    const answer = await session.ask(pathname + search, {
      method: request.method,
      accept: request.headers.get('accept') ?? 'application/json',
      as: whoAsks(request),
      ...(body === '' ? {} : { body }),
      ...(contentType === null ? {} : { contentType }),
      ...(UNREMARKABLE.test(pathname) ? {} : { from }),
    });
    const headers = new Headers({ 'content-type': 'application/json' });
    for (const warning of answer.warnings) headers.append('warning', `299 - ${JSON.stringify(warning)}`);
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    return new Response(text, { status: answer.code, headers });
  };
}

function whoAsks({ headers }: Request): User {
  const user = headers.get('impersonate-user');
  if (user === null) return ADMINISTRATOR;
  const groups = headers.get('impersonate-group')?.split(', ') ?? [];
  return { user, groups };
}
