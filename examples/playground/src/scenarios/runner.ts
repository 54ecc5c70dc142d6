/**
 * Runs a scenario in a session, one step at a time. Each step is checked before the next.
 */
import { runForText, runLine } from '../command-line/interpreter.js';
import { sessionShell } from '../command-line/session-shell.js';
import { makeCluster } from '../session/make-cluster.js';
import type { Session } from '../session/session.js';
import type { SessionState } from '../session/types.js';
import type { Ran, Scenario, Step, World } from './scenario.js';

export type StepOutcome =
  | { readonly state: 'done'; readonly ran: readonly Ran[] }
  /** The check failed, for this reason. */
  | { readonly state: 'differs'; readonly ran: readonly Ran[]; readonly reason: string };

/** How long a check is repeated, in real milliseconds. */
const PATIENCE_MS = 12_000;
const LOOK_AGAIN_MS = 120;

/** The timeout of a line that waits, such as `rollout status`. */
const LINE_PATIENCE_MS = 20_000;

/** Whether the page shows a scenario. A fork of a scenario's cluster counts. */
export function isInScenario({ aside }: Pick<SessionState, 'aside'>): boolean {
  return aside !== undefined && (aside.type === 'scenario' || isInScenario(aside.kept));
}

/** Returns to the user's own cluster. */
export async function leaveScenario(session: Session): Promise<void> {
  while (isInScenario(session.state)) await session.comeBack();
}

export class ScenarioRunner {
  readonly scenario: Scenario;
  readonly #session: Session;
  #next = 0;

  private constructor(session: Session, scenario: Scenario) {
    this.#session = session;
    this.scenario = scenario;
  }

  /** Starts a scenario in a new cluster. The user's own cluster is kept; the cluster of a previous scenario is not. */
  static async begin(session: Session, scenario: Scenario): Promise<ScenarioRunner> {
    await leaveScenario(session);
    session.goAside('scenario', scenario.title, makeCluster());
    session.setText('');
    session.store.set({ namespace: 'default' });
    return new ScenarioRunner(session, scenario);
  }

  /** The index of the next step; the number of steps when all are done. */
  get next(): number {
    return this.#next;
  }

  get isOver(): boolean {
    return this.#next >= this.scenario.steps.length;
  }

  /** Runs the next step. A step whose check failed can be repeated. */
  async step({ patienceMs = PATIENCE_MS } = {}): Promise<StepOutcome> {
    const step = this.scenario.steps[this.#next];
    if (step === undefined) throw new Error(`the scenario "${this.scenario.id}" has no more steps`);
    if (step.text !== undefined) this.#session.setText(step.text);
    const ran: Ran[] = [];
    for (const line of step.lines) ran.push(await this.#run(line));
    const about = step.about ?? this.scenario.about;
    if (about !== undefined) this.#session.select(about);
    const reason = await this.#checked(step, ran, patienceMs);
    if (reason !== undefined) return { state: 'differs', ran, reason };
    this.#next += 1;
    return { state: 'done', ran };
  }

  async #run(line: string): Promise<Ran> {
    const texts: string[] = [];
    const code = await runLine(sessionShell(this.#session, 'scenario'), line, {
      write: (text) => texts.push(text),
      signal: AbortSignal.timeout(LINE_PATIENCE_MS),
    });
    return { line, code, text: texts.join('\n') };
  }

  async #checked(step: Step, ran: readonly Ran[], patienceMs: number): Promise<string | undefined> {
    const ask = async (line: string): Promise<Ran> => {
      const { code, output, error } = await runForText(sessionShell(this.#session, 'scenario'), line);
      return { line, code, text: [output, error].filter((text) => text !== '').join('\n') };
    };
    const world: World = {
      ran,
      ask,
      async find(word) {
        const { code, text } = await ask(`get ${word} -o json --show-managed-fields`);
        return code === 0 ? (JSON.parse(text) as unknown) : undefined;
      },
    };
    const until = performance.now() + patienceMs;
    for (;;) {
      const reason = await step.check(world);
      if (reason === undefined || performance.now() >= until) return reason;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }
}
