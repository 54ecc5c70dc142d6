/**
 * The state of the command line. It exists independently of its panel, so a watch continues while another panel is
 * open.
 */
import type { Session } from '../session/session.js';
import { Store } from '../session/store.js';
import { type Completion, completeLine } from './complete.js';
import { runLine, type Stream } from './interpreter.js';
import { LineHistory } from './line-history.js';
import { sessionShell } from './session-shell.js';

export interface TerminalEntry {
  readonly id: number;
  /** `line` is a line that ran, `input` one that a running command read. */
  readonly type: 'line' | 'input' | Stream;
  readonly text: string;
}

export interface TerminalState {
  readonly entries: readonly TerminalEntry[];
  /** The line that is running, if any. */
  readonly running: string | undefined;
  /** The prompt of a running command that reads lines, such as a shell in a container. */
  readonly prompt: string | undefined;
  readonly candidates: readonly string[];
}

const MAX_ENTRIES = 1_500;
const HISTORY_KEY = 'orchplane-playground-lines';

export class Terminal {
  readonly store = new Store<TerminalState>({ entries: [], running: undefined, prompt: undefined, candidates: [] });
  readonly #lines = new LineHistory(loadHistory());
  readonly #inputLines = new LineHistory([]);
  readonly #session: Session;
  #input: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stop: AbortController | undefined;
  #count = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The lines that the arrow keys browse: commands, or the input of the command that reads lines. */
  get history(): LineHistory {
    return this.#input === undefined ? this.#lines : this.#inputLines;
  }

  /** Runs a line that the user typed, and remembers it. */
  async enter(line: string): Promise<number> {
    this.#lines.add(line);
    saveHistory(this.#lines.lines);
    return this.run(line);
  }

  /** Runs a line. Only one line runs at a time. */
  async run(line: string): Promise<number> {
    this.#write(line, 'line');
    if (line.trim() === 'clear') {
      this.clear();
      return 0;
    }
    this.#stop = new AbortController();
    this.store.set({ running: line, candidates: [] });
    const code = await runLine(sessionShell(this.#session, 'command line'), line, {
      write: (text, stream) => this.#write(text, stream),
      signal: this.#stop.signal,
      input: (prompt) => this.#openInput(prompt),
    });
    this.#stop = undefined;
    this.#input = undefined;
    this.store.set({ running: undefined, prompt: undefined });
    return code;
  }

  /** Passes a line to the running command. */
  send(line: string): void {
    this.#inputLines.add(line);
    this.#write(`${this.store.get().prompt} ${line}`, 'input');
    this.#input?.enqueue(new TextEncoder().encode(`${line}\n`));
  }

  /** Ends the input of the running command, which ends a shell. */
  endInput(): void {
    this.#input?.close();
    this.#input = undefined;
  }

  /** Ends the running command. */
  stop(): void {
    if (this.#stop === undefined) return;
    this.#write('^C', 'error');
    this.#stop.abort();
  }

  async complete(line: string): Promise<Completion> {
    const completion = await completeLine(sessionShell(this.#session, 'command line'), line);
    this.store.set({ candidates: completion.candidates.length > 1 ? completion.candidates : [] });
    return completion;
  }

  forgetCandidates(): void {
    if (this.store.get().candidates.length > 0) this.store.set({ candidates: [] });
  }

  clear(): void {
    this.store.set({ entries: [], candidates: [] });
  }

  #openInput(prompt: string): ReadableStream<Uint8Array> {
    this.store.set({ prompt });
    return new ReadableStream({
      start: (controller) => {
        this.#input = controller;
      },
    });
  }

  #write(text: string, type: TerminalEntry['type']): void {
    const entry = { id: ++this.#count, type, text };
    this.store.set({ entries: [...this.store.get().entries, entry].slice(-MAX_ENTRIES) });
  }
}

const terminals = new WeakMap<Session, Terminal>();

export function terminalOf(session: Session): Terminal {
  const known = terminals.get(session);
  if (known !== undefined) return known;
  const terminal = new Terminal(session);
  terminals.set(session, terminal);
  return terminal;
}

function loadHistory(): readonly string[] {
  try {
    const lines: unknown = JSON.parse(localStorage.getItem(HISTORY_KEY) ?? '[]');
    return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
  } catch {
    return []; // storage is not available: start with an empty history
  }
}

function saveHistory(lines: readonly string[]): void {
  try {
    localStorage.setItem(HISTORY_KEY, JSON.stringify(lines.slice(-100)));
  } catch {
    // Storage is not available: the history lasts until the page is closed.
  }
}
