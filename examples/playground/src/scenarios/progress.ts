/**
 * Where a session is in a scenario, whether the panel is open or not.
 */
import type { Session } from '../session/session.js';
import { Store } from '../session/store.js';
import { isInScenario, leaveScenario, ScenarioRunner, type StepOutcome } from './runner.js';
import type { Scenario } from './scenario.js';

export interface ProgressState {
  readonly runner: ScenarioRunner | undefined;
  /** What has come of each step that was done, in order. */
  readonly outcomes: readonly StepOutcome[];
  readonly isBusy: boolean;
}

export class Progress {
  readonly store = new Store<ProgressState>({ runner: undefined, outcomes: [], isBusy: false });
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
    // Whoever goes back to the own cluster, wherever in the page, has left the story.
    session.store.subscribe(() => {
      if (this.store.get().runner !== undefined && !isInScenario(session.state)) this.leave();
    });
  }

  async begin(scenario: Scenario): Promise<void> {
    await this.#busy(async () => {
      const runner = await ScenarioRunner.begin(this.#session, scenario);
      this.store.set({ runner, outcomes: [] });
    });
  }

  /** The next step; the last one again, if it was not as it was said. */
  async step(): Promise<void> {
    const { runner } = this.store.get();
    if (runner === undefined || runner.isOver) return;
    await this.#busy(async () => {
      const at = runner.next;
      const outcome = await runner.step();
      this.store.set({ outcomes: [...this.store.get().outcomes.slice(0, at), outcome] });
    });
  }

  /** Back to what the visitor had before. */
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
