/**
 * The colours of field managers: a name has the same colour everywhere in the page.
 */
const COLOURS = 8;
/** Colours are assigned in order of appearance, so that the first eight managers have different ones. */
const colours = new Map<string, number>();

/** The index of a manager's colour in the CSS variables `--m0` … `--m7`. */
export function managerColour(name: string): number {
  const known = colours.get(name);
  if (known !== undefined) return known;
  const colour = colours.size % COLOURS;
  colours.set(name, colour);
  return colour;
}

export function ManagerChip({ name, detail }: { readonly name: string; readonly detail?: string }) {
  return (
    <span class="chip manager" style={{ '--m': `var(--m${managerColour(name)})` }} title={detail}>
      {name}
    </span>
  );
}
