import type { RecordedResponse, Scenario } from './recordings.mjs';

/** A step of a recording that differs in the dialect `orch`. */
export interface ListedStep {
  /** `group/name` of the scenario. */
  readonly recording: string;
  /** Counted from 1. */
  readonly step: number;
  /** A row of docs/specification.md. */
  readonly statement: string;
  /** The status code in the dialect `orch`. */
  readonly status: number;
}

export function listedSteps(): readonly ListedStep[];

export function specified(
  scenario: Scenario,
  index: number,
): { readonly statement: string; readonly response?: RecordedResponse; readonly status?: number } | undefined;
