/**
 * A session's progress in a scenario. It exists independently of the panel.
 */
import type { Session } from '../session/session.js';
import { Store } from '../session/store.js';
import { isInScenario, leaveScenario, ScenarioRunner, type StepOutcome } from './runner.js';
import type { Scenario } from './scenario.js';

export interface ProgressState {
  readonly runner: ScenarioRunner | undefined;
  /** The outcomes of the finished steps, in order. */
  readonly outcomes: readonly StepOutcome[];
  readonly isBusy: boolean;
}

export class Progress {
  readonly store = new Store<ProgressState>({ runner: undefined, outcomes: [], isBusy: false });
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
    // Returning to the user's own cluster by any control ends the scenario.
    session.store.subscribe(() => {
      if (this.store.get().runner !== undefined && !isInScenario(session.state)) this.leave();
    });
  }

  async start(scenario: Scenario): Promise<void> {
    await this.#busy(async () => {
      const runner = await ScenarioRunner.start(this.#session, scenario);
      this.store.set({ runner, outcomes: [] });
    });
  }

  /** Runs the next step, or repeats the last one if its check failed. */
  async step(): Promise<void> {
    const { runner } = this.store.get();
    if (runner === undefined || runner.isOver) return;
    await this.#busy(async () => {
      const at = runner.next;
      const outcome = await runner.step();
      this.store.set({ outcomes: [...this.store.get().outcomes.slice(0, at), outcome] });
    });
  }

  /** Returns to the user's own cluster. */
  async goBack(): Promise<void> {
    await this.#busy(() => leaveScenario(this.#session));
  }

  leave(): void {
    this.store.set({ runner: undefined, outcomes: [] });
  }

  async #busy(work: () => Promise<void>): Promise<void> {
    if (this.store.get().isBusy) return;
    this.store.set({ isBusy: true });
    try {
      await work();
    } catch (error) {
      this.#session.notify('bad', error instanceof Error ? error.message : String(error));
    } finally {
      this.store.set({ isBusy: false });
    }
  }
}

const known = new WeakMap<Session, Progress>();

export function progressOf(session: Session): Progress {
  const progress = known.get(session) ?? new Progress(session);
  known.set(session, progress);
  return progress;
}
