/**
 * The command-line panel: the most used commands of kubectl for the page's cluster.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Terminal, type TerminalEntry, terminalOf } from '../command-line/terminal.js';
import { useSession } from '../session/session.js';
import { useStore } from '../session/store.js';
import type { Panel, PanelProps } from './panel.js';

const SUGGESTED = ['get all', 'api-resources', 'explain deployment.spec', 'auth can-i --list --as=alice', 'help'];

function CommandLinePanel({ session }: PanelProps) {
  const terminal = terminalOf(session);
  const entries = useStore(terminal.store, (state) => state.entries);
  const running = useStore(terminal.store, (state) => state.running);
  const candidates = useStore(terminal.store, (state) => state.candidates);
  const user = useSession(session, (state) => state.user.user);
  const namespace = useSession(session, (state) => state.namespace);
  const [line, setLine] = useState('');
  const output = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => {
    output.current?.scrollTo({ top: output.current.scrollHeight });
  }, [entries, candidates]);

  const run = (text: string): void => {
    setLine('');
    if (text.trim() !== '') void terminal.run(text).then(() => input.current?.focus());
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the input below takes every key; a click only leads there
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      class="terminal"
      onClick={() => {
        if (getSelection()?.isCollapsed !== false) input.current?.focus();
      }}
    >
      <div class="terminal-output" ref={output} role="log" aria-label="Output" tabIndex={-1}>
        {entries.length === 0 && (
          <p class="terminal-hint">
            The most used commands of kubectl, for the cluster in this page. Tab completes. Try{' '}
            {SUGGESTED.map((each) => (
              <button type="button" class="small" key={each} onClick={() => run(each)}>
                {each}
              </button>
            ))}
          </p>
        )}
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
        {candidates.length > 0 && <pre class="terminal-candidates">{candidates.slice(0, 60).join('   ')}</pre>}
      </div>
      <form
        class="terminal-prompt"
        onSubmit={(event) => {
          event.preventDefault();
          if (running === undefined) run(line);
        }}
      >
        <label for="command">
          <span title="User and namespace">{`${user}@${namespace}`}</span> $
        </label>
        <input
          id="command"
          ref={input}
          value={line}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-label="Command"
          placeholder={running === undefined ? 'get pods' : 'Ctrl+C stops it'}
          onInput={(event) => {
            setLine(event.currentTarget.value);
            terminal.forgetCandidates();
          }}
          onKeyDown={(event) => onKey(event, { terminal, line, setLine })}
        />
        {running !== undefined && (
          <button type="button" class="small" onClick={() => terminal.stop()}>
            Stop
          </button>
        )}
      </form>
    </div>
  );
}

interface Typing {
  readonly terminal: Terminal;
  readonly line: string;
  readonly setLine: (line: string) => void;
}

function onKey(event: KeyboardEvent, { terminal, line, setLine }: Typing): void {
  const field = event.currentTarget as HTMLInputElement;
  const isSelected = field.selectionStart !== field.selectionEnd;
  // On an empty line Tab moves the focus, as everywhere in the page.
  if (event.key === 'Tab' && !event.shiftKey && line !== '') {
    event.preventDefault();
    void terminal.complete(line).then((completion) => setLine(completion.line));
  } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
    event.preventDefault();
    setLine(event.key === 'ArrowUp' ? terminal.history.previous(line) : terminal.history.next(line));
  } else if (event.ctrlKey && event.key === 'c' && !isSelected) {
    event.preventDefault();
    terminal.stop();
    setLine('');
  } else if (event.ctrlKey && event.key === 'l') {
    event.preventDefault();
    terminal.clear();
  }
}

function Entry({ entry: { type, text } }: { readonly entry: TerminalEntry }) {
  if (type === 'line') {
    return (
      <pre class="terminal-line">
        <span>$</span> {text}
      </pre>
    );
  }
  return <pre class={type === 'error' ? 'terminal-error' : ''}>{text}</pre>;
}

export const commandLinePanel: Panel = {
  id: 'command-line',
  title: 'Command line',
  Panel: CommandLinePanel,
};
