/** The outcome of the replay of one area in one dialect. */
export interface Outcome {
  /** Steps whose response is identical, descriptions aside. */
  readonly identical: number;
  /** Steps whose response differs as the specification requires; only in the dialect `orch`. */
  readonly specified: number;
  /** Steps whose response has the expected status code. */
  readonly codes: number;
}

export interface AreaFigures {
  readonly steps: number;
  readonly kubernetes: Outcome;
  readonly orch: Outcome;
}

export type Figures = Readonly<Record<string, AreaFigures>>;

export function sectionOf(text: string): string | undefined;
export function withSection(text: string, figures: Figures): string;
export function table(figures: Figures): string;
export function percent(part: number, whole: number): string;
