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
  readonly type: 'line' | Stream;
  readonly text: string;
}

export interface TerminalState {
  readonly entries: readonly TerminalEntry[];
  /** The line that is running, if any. */
  readonly running: string | undefined;
  readonly candidates: readonly string[];
}

const MAX_ENTRIES = 1_500;
const HISTORY_KEY = 'orchplane-playground-lines';

export class Terminal {
  readonly store = new Store<TerminalState>({ entries: [], running: undefined, candidates: [] });
  readonly history = new LineHistory(loadHistory());
  readonly #session: Session;
  #stop: AbortController | undefined;
  #count = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Runs a line. Only one line runs at a time. */
  async run(line: string): Promise<number> {
    this.#write(line, 'line');
    this.history.add(line);
    saveHistory(this.history.lines);
    if (line.trim() === 'clear') {
      this.clear();
      return 0;
    }
    this.#stop = new AbortController();
    this.store.set({ running: line, candidates: [] });
    const code = await runLine(sessionShell(this.#session, 'command line'), line, {
      write: (text, stream) => this.#write(text, stream),
      signal: this.#stop.signal,
    });
    this.#stop = undefined;
    this.store.set({ running: undefined });
    return code;
  }

  /** Ends a watch. */
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
