/** The functions of the scheduler that a replay uses. */
export type SchedulerFunctions = Readonly<Record<string, unknown>>;

export interface RecordedCluster {
  readonly id: string;
  /** In the versions of the library. */
  readonly objects: readonly object[];
  /** Of the reference. */
  readonly decisions: readonly { readonly pod: string }[];
}

export function replay(lib: SchedulerFunctions, cluster: RecordedCluster): readonly string[];
