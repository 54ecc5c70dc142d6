/**
 * The four actions of the editor: apply, create, replace, delete. Each sends one request per document, as kubectl does.
 * The result goes to the log, to a notice, or to the conflict card.
 */
import type { ApiObject, ServedKind } from 'orchplane';
import { pathOf, refOf } from '../session/refs.js';
import type { Session, SessionResponse } from '../session/session.js';
import type { ObjectRef } from '../session/types.js';
import type { OutlinedDocument } from './outline.js';

export type Action = 'apply' | 'create' | 'replace' | 'delete';

const PAST_TENSE: Readonly<Record<Action, string>> = {
  apply: 'applied',
  create: 'created',
  replace: 'replaced',
  delete: 'deleted',
};

/** Shown when the user tries to write while the page shows the past. */
export const PAST_IS_READ_ONLY = 'You are viewing the past, which cannot be changed. Go back to the present, or fork.';

interface Target {
  readonly served: ServedKind;
  readonly namespace: string;
  readonly document: OutlinedDocument;
}

/**
 * Runs an action on every document, in order, and stops at the first that the server rejects. Returns whether all
 * succeeded.
 */
export async function runAction(
  session: Session,
  action: Action,
  documents: readonly OutlinedDocument[],
  options: { readonly force?: boolean } = {},
): Promise<boolean> {
  if (session.state.past !== undefined) {
    session.notify('info', PAST_IS_READ_ONLY);
    return false;
  }
  if (documents.length === 0) {
    session.notify('info', 'The editor is empty');
    return false;
  }
  session.store.set({ conflict: undefined });
  // Delete in reverse order: later documents may depend on earlier ones.
  const inOrder = action === 'delete' ? [...documents].reverse() : documents;
  const done: ApiObject[] = [];
  for (const document of inOrder) {
    const { apiVersion = '', kind = '' } = document;
    const served = session.kindOf(apiVersion, kind);
    if (served === undefined) {
      session.notify('bad', `This cluster serves no ${kind || 'kind'} in ${apiVersion || 'no apiVersion'}`);
      return false;
    }
    const target = { served, namespace: document.namespace ?? session.state.namespace, document };
    const answer = await send(session, action, target, options.force ?? session.state.force);
    for (const warning of answer.warnings) session.notify('info', warning);
    if (answer.status !== undefined) {
      reportFailure(session, action, target, answer);
      return false;
    }
    done.push(answer.body as ApiObject);
  }
  reportSuccess(session, action, done);
  return true;
}

async function send(session: Session, action: Action, target: Target, force: boolean): Promise<SessionResponse> {
  const { served, namespace, document } = target;
  const { manager } = session.state;
  const { name, text: body } = document;
  const query = new URLSearchParams({ fieldManager: manager });
  const yaml = 'application/yaml';
  const object = pathOf(served, namespace, name);
  switch (action) {
    case 'apply':
      if (force) query.set('force', 'true');
      return session.request(`${object}?${query}`, {
        method: 'PATCH',
        body,
        contentType: 'application/apply-patch+yaml',
        from: 'editor',
      });
    case 'create':
      query.set('fieldValidation', 'Strict');
      return session.request(`${pathOf(served, namespace)}?${query}`, {
        method: 'POST',
        body,
        contentType: yaml,
        from: 'editor',
      });
    case 'replace':
      query.set('fieldValidation', 'Strict');
      return session.request(`${object}?${query}`, { method: 'PUT', body, contentType: yaml, from: 'editor' });
    case 'delete':
      return session.request(`${object}?propagationPolicy=Background`, { method: 'DELETE', from: 'editor' });
  }
}

function reportFailure(
  session: Session,
  action: Action,
  { served, namespace, document }: Target,
  { status }: SessionResponse,
): void {
  const { apiVersion = '', kind = '', name = '', text } = document;
  const causes = status?.details?.causes ?? [];
  const message = status?.message ?? 'refused';
  if (causes.some(({ reason }) => reason === 'FieldManagerConflict')) {
    const ref: ObjectRef = { apiVersion, kind, ...(served.namespaced ? { namespace } : {}), name };
    const { manager } = session.state;
    session.store.set({ conflict: { ref, manager, message, causes, text }, selected: ref });
    return;
  }
  session.notify('bad', action === 'apply' || message.includes(name) ? message : `${kind} ${name}: ${message}`);
}

function reportSuccess(session: Session, action: Action, done: readonly ApiObject[]): void {
  const [first] = done;
  const what =
    done.length === 1 && first?.metadata !== undefined
      ? `${first.kind} ${first.metadata.name}`
      : `${done.length} objects`;
  session.notify('good', `${first?.kind === 'Status' ? 'Object' : what} ${PAST_TENSE[action]}`);
  if (action !== 'delete' && first !== undefined) session.select(refOf(first));
}

/** Deletes one object as the selected user. */
export async function deleteObject(session: Session, ref: ObjectRef): Promise<void> {
  const served = session.kindOf(ref.apiVersion, ref.kind);
  if (served === undefined) return;
  const path = `${pathOf(served, ref.namespace, ref.name)}?propagationPolicy=Background`;
  const { status } = await session.request(path, { method: 'DELETE', from: 'object view' });
  if (status === undefined) session.notify('good', `${ref.kind} ${ref.name} deleted`);
  else session.notify('bad', status.message ?? 'refused');
}
