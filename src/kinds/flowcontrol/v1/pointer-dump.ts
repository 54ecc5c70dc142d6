/**
 * Prints pointers as Go's %#v: the address in memory, which is a constant here so that responses can be compared.
 */
/** Prints a pointer to a struct of the flowcontrol package. */
export function pointerDump(name: string, value: unknown): string {
  return `(*flowcontrol.${name})(${value === undefined ? 'nil' : '0xc000000000'})`;
}
