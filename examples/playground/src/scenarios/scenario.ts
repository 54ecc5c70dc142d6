/**
 * The contract of scenarios: stories in steps. A step says in plain words what is about to happen, does it with the same
 * command line that readers have, and checks that what was said is what happened.
 */
import type { ObjectRef } from '../session/types.js';

/** What a line printed. */
export interface Ran {
  readonly line: string;
  readonly code: number;
  /** Both streams, in the order in which they came. */
  readonly text: string;
}

/** What checks may look at. */
export interface World {
  /** The lines of this step. */
  readonly ran: readonly Ran[];
  /** One more line, for its answer; it is shown to nobody. */
  ask(line: string): Promise<Ran>;
  /** An object by what a line would call it, `deployment/web`; undefined when it is not there. */
  find(word: string): Promise<unknown>;
}

export interface Step {
  readonly title: string;
  /** Short and plain. `code` stands in backquotes. */
  readonly prose: string;
  /** Put into the editor first. */
  readonly text?: string;
  /** Run in order; the step goes on when one fails, because some are meant to. */
  readonly lines: readonly string[];
  /** The object that the step is about, unless it is that of the scenario. It is selected when the lines have run. */
  readonly about?: ObjectRef;
  /** Nothing when it is as the prose says; otherwise what is not. Asked again for a while, because controllers take time. */
  check(world: World): Promise<string | undefined>;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** The object that the lesson is about: the page shows it, with the owners of its fields. */
  readonly about?: ObjectRef;
  readonly steps: readonly Step[];
}

/** For checks: nothing if it holds, otherwise what was expected. */
export function expectThat(holds: boolean, otherwise: string): string | undefined {
  return holds ? undefined : otherwise;
}
