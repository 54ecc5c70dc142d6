/**
 * What the page has asked the server, as it went over the wire, and what the server said.
 */
import { useEffect, useRef } from 'preact/hooks';
import { useSession } from '../session/session.js';
import type { Panel, PanelProps } from './panel.js';

function RequestsPanel({ session }: PanelProps) {
  const requests = useSession(session, (state) => state.requests);
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => list.current?.scrollTo({ top: list.current.scrollHeight }), [requests]);
  return (
    <ol class="rows requests" ref={list}>
      {requests.map(({ id, at, method, path, code, user, from, tookMs, message }) => (
        <li key={id} class={`row ${code < 400 ? '' : 'refused'}`}>
          <div>
            <time>{new Date(at).toISOString().slice(11, 23)}</time>
            <b class="type">{method}</b>
            <span class={`code ${code < 400 ? 'good' : 'bad'}`}>{code}</span>
            <span class="path">{path}</span>
            <span class="summary">{`${user} · ${from} · ${tookMs.toFixed(1)} ms`}</span>
          </div>
          {message !== undefined && <p>{message}</p>}
        </li>
      ))}
      {requests.length === 0 && (
        <li class="empty">No requests yet. Whatever you do here is an HTTP request, and is listed.</li>
      )}
    </ol>
  );
}

export const requestsPanel: Panel = { id: 'requests', title: 'Requests', Panel: RequestsPanel };
