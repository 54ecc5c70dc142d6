export interface Response {
  readonly status: number;
  readonly contentType?: string;
  readonly warning?: string;
  readonly body: unknown;
}

export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export function normalize(responses: readonly Response[], namespace: string): readonly Response[];
export function renumber(responses: readonly Response[], counted: (index: number) => boolean): readonly Response[];
export function differences(
  expected: unknown,
  actual: unknown,
  ignored?: readonly string[],
  path?: string,
): readonly Difference[];
