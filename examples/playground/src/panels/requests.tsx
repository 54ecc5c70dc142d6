/**
 * The requests panel: the requests of the page and the server's responses. A click on a request shows both documents.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { yamlText } from '../command-line/yaml-text.js';
import { useSession } from '../session/session.js';
import type { RequestEntry } from '../session/types.js';
import type { Panel, PanelProps } from './panel.js';

/** Longer documents are cut. */
const MAX_CHARACTERS = 20_000;

function RequestsPanel({ session }: PanelProps) {
  const requests = useSession(session, (state) => state.requests);
  const [open, setOpen] = useState<number>();
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => list.current?.scrollTo({ top: list.current.scrollHeight }), [requests]);
  return (
    <ol class="rows requests" ref={list}>
      {requests.map((entry) => (
        <Row
          key={entry.id}
          entry={entry}
          isOpen={open === entry.id}
          toggle={() => setOpen(open === entry.id ? undefined : entry.id)}
        />
      ))}
      {requests.length === 0 && (
        <li class="empty">No requests yet. Every action in this page sends an HTTP request, which is listed here.</li>
      )}
    </ol>
  );
}

interface RowProps {
  readonly entry: RequestEntry;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Row({ entry, isOpen, toggle }: RowProps) {
  const { at, method, path, code, user, from, tookMs, message } = entry;
  return (
    <li class={`row ${code < 400 ? '' : 'refused'}`}>
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <time>{new Date(at).toISOString().slice(11, 23)}</time>
        <b class="type">{method}</b>
        <span class={`code ${code < 400 ? 'good' : 'bad'}`}>{code}</span>
        <span class="path">{path}</span>
        <span class="summary">{`${user} · ${from} · ${tookMs.toFixed(1)} ms`}</span>
      </button>
      {message !== undefined && <p>{message}</p>}
      {isOpen && <Details entry={entry} />}
    </li>
  );
}

function Details({ entry: { body, answer, code, tookMs } }: { readonly entry: RequestEntry }) {
  return (
    <div class="request-details">
      <section aria-label="Request">
        <h3>Sent</h3>
        <pre class="diff">{body === undefined ? 'no document' : shown(sentDocument(body))}</pre>
      </section>
      <section aria-label="Answer">
        <h3>{`Answered ${code} in ${tookMs.toFixed(1)} ms`}</h3>
        <pre class="diff">{shown(answer)}</pre>
      </section>
    </div>
  );
}

/** Commands send JSON, the editor sends YAML text. */
function sentDocument(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return body; // YAML already
  }
}

function shown(document: unknown): string {
  const text = typeof document === 'string' ? document : yamlText(document);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n…` : text.trimEnd();
}

export const requestsPanel: Panel = { id: 'requests', title: 'Requests', Panel: RequestsPanel };
