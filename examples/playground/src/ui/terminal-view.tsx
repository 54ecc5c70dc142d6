/**
 * Shows a terminal: its output, and a line to type.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Terminal, TerminalEntry } from '../command-line/terminal.js';
import { useStore } from '../session/store.js';

interface TerminalViewProps {
  readonly terminal: Terminal;
  /** The id of the input. */
  readonly id: string;
  /** What the input is, for screen readers. */
  readonly label: string;
  readonly prompt: ComponentChildren;
  readonly placeholder: string;
  /** Shown while there is no output. */
  readonly hint: ComponentChildren;
  /** Shown instead of the input when no command reads lines. Absent: the input takes commands. */
  readonly closed?: ComponentChildren;
}

export function TerminalView({ terminal, id, label, prompt, placeholder, hint, closed }: TerminalViewProps) {
  const { entries, running, candidates, prompt: inner } = useStore(terminal.store, (state) => state);
  const [line, setLine] = useState('');
  const output = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);

  useEffect(() => {
    output.current?.scrollTo({ top: output.current.scrollHeight });
  }, [entries, candidates]);

  // A command that reads lines gets what is typed next.
  useEffect(() => {
    if (inner !== undefined) input.current?.focus();
  }, [inner]);

  const enter = (): void => {
    if (inner !== undefined) terminal.send(line);
    else if (running !== undefined) return;
    else if (line.trim() !== '') void terminal.enter(line).then(() => input.current?.focus());
    setLine('');
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
      <div class="terminal-output" ref={output} role="log" aria-label={`Output of ${label}`} tabIndex={-1}>
        {entries.length === 0 && hint}
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
        {candidates.length > 0 && <pre class="terminal-candidates">{candidates.slice(0, 60).join('   ')}</pre>}
      </div>
      {closed !== undefined && inner === undefined ? (
        <div class="terminal-prompt">{closed}</div>
      ) : (
        <form
          class="terminal-prompt"
          onSubmit={(event) => {
            event.preventDefault();
            enter();
          }}
        >
          <label for={id}>{inner ?? prompt}</label>
          <input
            id={id}
            ref={input}
            value={line}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            aria-label={label}
            placeholder={inner !== undefined ? 'ls /etc' : running === undefined ? placeholder : 'Ctrl+C stops it'}
            onInput={(event) => {
              setLine(event.currentTarget.value);
              terminal.forgetCandidates();
            }}
            onKeyDown={(event) => onKey(event, { terminal, isReading: inner !== undefined, line, setLine })}
          />
          {running !== undefined && (
            <button type="button" class="small" onClick={() => terminal.stop()}>
              Stop
            </button>
          )}
        </form>
      )}
    </div>
  );
}

interface Typing {
  readonly terminal: Terminal;
  readonly isReading: boolean;
  readonly line: string;
  readonly setLine: (line: string) => void;
}

function onKey(event: KeyboardEvent, { terminal, isReading, line, setLine }: Typing): void {
  const field = event.currentTarget as HTMLInputElement;
  const isSelected = field.selectionStart !== field.selectionEnd;
  // On an empty line Tab moves the focus, as everywhere in the page.
  if (event.key === 'Tab' && !event.shiftKey && line !== '' && !isReading) {
    event.preventDefault();
    void terminal.complete(line).then((completion) => setLine(completion.line));
  } else if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
    event.preventDefault();
    setLine(event.key === 'ArrowUp' ? terminal.history.previous(line) : terminal.history.next(line));
  } else if (event.ctrlKey && event.key === 'c' && !isSelected) {
    event.preventDefault();
    terminal.stop();
    setLine('');
  } else if (event.ctrlKey && event.key === 'd' && isReading && line === '') {
    event.preventDefault();
    terminal.endInput();
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
  const classes = { input: 'terminal-line', output: '', error: 'terminal-error' };
  return <pre class={classes[type]}>{text}</pre>;
}
