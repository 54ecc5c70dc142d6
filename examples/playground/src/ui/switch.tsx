/** An on/off switch. */
interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
  readonly title?: string;
  readonly class?: string;
}

export function Switch({ label, isOn, set, title, class: more = '' }: SwitchProps) {
  return (
    <label class={`switch ${more}`} title={title}>
      <input
        type="checkbox"
        role="switch"
        checked={isOn}
        aria-checked={isOn}
        onChange={(event) => set(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
