/** One HTTP request of a scenario. Its texts may contain `{ns}` and `${id.path}`, which a replay fills in. */
export interface Step {
  /** Names the response, so that later steps can refer to its body: `${id.metadata.resourceVersion}`. */
  readonly id?: string;
  readonly method: string;
  /** `{ns}` is the namespace that a replay creates for the scenario. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /** The default is JSON as `accept`, and as `content-type` of a body. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is sent as it is. */
  readonly rawBody?: string;
  /** The user that sends the request; the default is `admin`. */
  readonly as?: 'admin' | 'alice' | 'bob' | 'carol' | 'anonymous';
  /** Reads so many events of a watch, or stops after the timeout. The body of the response is the list of events. */
  readonly watch?: { readonly events?: number; readonly timeoutMs?: number };
  /** Milliseconds that pass before the request. */
  readonly wait?: number;
  /** Paths that are not compared, such as `.body.metadata.name`; a final `*` stands for any rest of the path. */
  readonly ignore?: readonly string[];
}

/** A recorded response, in which marks replace values that differ between runs: `<uid:1>`, `<rv:2>`, `<time>`. */
export interface RecordedResponse {
  readonly status: number;
  readonly contentType?: string;
  readonly warning?: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Scenario {
  readonly name: string;
  readonly area: string;
  /** The set of scenarios that were recorded together, such as `patch-json`. */
  readonly group: string;
  readonly steps: readonly Step[];
  /** Requests after the last step that restore the cluster. Their responses are not compared. */
  readonly cleanup?: readonly Step[];
  /** The response to each step. */
  readonly expect: readonly RecordedResponse[];
}

export const RECORDINGS: string;
export function readRecordings(...paths: readonly string[]): readonly Scenario[];
export function readGroup(group: string): readonly Scenario[];
export function compressRecording(scenarios: readonly Scenario[]): Uint8Array;
export function withoutKeys<T>(value: T, keys: readonly string[]): T;
export function withoutDescriptions(response: RecordedResponse): RecordedResponse;
