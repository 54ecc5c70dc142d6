/**
 * How the reference server prints a part of a spec that stands behind a pointer: only its place in memory shows, which
 * is another one every time. Ours is always the same, so that answers can be compared.
 */
export function pointerDump(name: string, value: unknown): string {
  return `(*flowcontrol.${name})(${value === undefined ? 'nil' : '0xc000000000'})`;
}
