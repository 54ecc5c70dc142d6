/**
 * Runs a scenario in a session, one step at a time. Each step is checked before the next.
 */
import { runForText, runLine } from '../command-line/interpreter.js';
import { sessionShell } from '../command-line/session-shell.js';
import { makeCluster } from '../session/make-cluster.js';
import type { Session } from '../session/session.js';
import type { SessionState } from '../session/types.js';
import type { LineResult, Scenario, ScenarioContext, Step } from './scenario.js';

export type StepOutcome =
  | { readonly state: 'done'; readonly results: readonly LineResult[] }
  /** The check failed, for this reason. */
  | { readonly state: 'differs'; readonly results: readonly LineResult[]; readonly reason: string };

/** How long a check is repeated, in real milliseconds. */
const CHECK_TIMEOUT_MS = 12_000;
const CHECK_INTERVAL_MS = 120;

/** The timeout of a line that waits, such as `rollout status`. */
const LINE_TIMEOUT_MS = 20_000;

/** Whether the page shows a scenario. A fork of a scenario's cluster counts. */
export function isInScenario({ temporary }: Pick<SessionState, 'temporary'>): boolean {
  return temporary !== undefined && (temporary.type === 'scenario' || isInScenario(temporary.kept));
}

/** Returns to the user's own cluster. */
export async function leaveScenario(session: Session): Promise<void> {
  while (isInScenario(session.state)) await session.returnToKeptCluster();
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
  static async start(session: Session, scenario: Scenario): Promise<ScenarioRunner> {
    await leaveScenario(session);
    session.switchCluster('scenario', scenario.title, makeCluster());
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
  async step({ timeoutMs = CHECK_TIMEOUT_MS } = {}): Promise<StepOutcome> {
    const step = this.scenario.steps[this.#next];
    if (step === undefined) throw new Error(`the scenario "${this.scenario.id}" has no more steps`);
    const { speed } = this.#session.state;
    if (step.speed !== undefined) this.#session.store.set({ speed: step.speed });
    try {
      return await this.#perform(step, timeoutMs);
    } finally {
      if (step.speed !== undefined) this.#session.store.set({ speed });
    }
  }

  async #perform(step: Step, timeoutMs: number): Promise<StepOutcome> {
    if (step.text !== undefined) this.#session.setText(step.text);
    const results: LineResult[] = [];
    for (const line of step.lines) results.push(await this.#run(line));
    const object = step.object ?? this.scenario.object;
    if (object !== undefined) this.#session.select(object);
    const reason = await this.#check(step, results, timeoutMs);
    if (reason !== undefined) return { state: 'differs', results, reason };
    this.#next += 1;
    return { state: 'done', results };
  }

  async #run(line: string): Promise<LineResult> {
    const texts: string[] = [];
    const code = await runLine(sessionShell(this.#session, 'scenario'), line, {
      write: (text) => texts.push(text),
      signal: AbortSignal.timeout(LINE_TIMEOUT_MS),
    });
    return { line, code, text: texts.join('\n') };
  }

  async #check(step: Step, results: readonly LineResult[], timeoutMs: number): Promise<string | undefined> {
    const run = async (line: string): Promise<LineResult> => {
      const { code, output, error } = await runForText(sessionShell(this.#session, 'scenario'), line);
      return { line, code, text: [output, error].filter((text) => text !== '').join('\n') };
    };
    const context: ScenarioContext = {
      results,
      run,
      async find(word) {
        const { code, text } = await run(`get ${word} -o json --show-managed-fields`);
        return code === 0 ? (JSON.parse(text) as unknown) : undefined;
      },
    };
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const reason = await step.check(context);
      if (reason === undefined || performance.now() >= deadline) return reason;
      await new Promise((resolve) => setTimeout(resolve, CHECK_INTERVAL_MS));
    }
  }
}
