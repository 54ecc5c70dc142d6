/** What came of the replay of one area in one dialect, in steps. */
export interface Outcome {
  /** The same to the letter. */
  readonly alike: number;
  /** The same but for descriptions of columns. */
  readonly butDescriptions: number;
  /** With the same status code. */
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
