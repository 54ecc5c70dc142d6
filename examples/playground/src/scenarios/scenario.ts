/**
 * The interface of scenarios. A step describes what is about to happen, runs command lines, and checks the result
 * against the description.
 */
import type { ObjectRef } from '../session/types.js';

/** A line and its output. */
export interface LineResult {
  readonly line: string;
  readonly code: number;
  /** Both streams, in the order in which they came. */
  readonly text: string;
}

/** What a check can read. */
export interface ScenarioContext {
  /** The lines of this step and their output. */
  readonly results: readonly LineResult[];
  /** Runs another line for its output, without showing it. */
  run(line: string): Promise<LineResult>;
  /** The object that a word such as `deployment/web` names; undefined if it does not exist. */
  find(word: string): Promise<unknown>;
}

export interface Step {
  readonly title: string;
  /** A short description. `code` is in backquotes. */
  readonly description: string;
  /** The text to put into the editor first. */
  readonly text?: string;
  /** Run in order. The step continues when a line fails, because some are meant to fail. */
  readonly lines: readonly string[];
  /** How fast the clock runs during the step: steps that wait for minutes. Unchanged unless given. */
  readonly speed?: number;
  /** The object to select after the lines have run; the scenario's object by default. */
  readonly object?: ObjectRef;
  /**
   * Returns undefined if the description holds, otherwise what differs. Repeated for a while, because controllers need
   * time.
   */
  check(context: ScenarioContext): Promise<string | undefined>;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** One sentence. */
  readonly summary: string;
  /** The object that the scenario is about. The page shows it with the owners of its fields. */
  readonly object?: ObjectRef;
  readonly steps: readonly Step[];
}

/** Returns undefined if `condition` is true, otherwise the expectation that failed. */
export function expectThat(condition: boolean, expectation: string): string | undefined {
  return condition ? undefined : expectation;
}
