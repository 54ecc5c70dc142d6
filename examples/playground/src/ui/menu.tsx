/**
 * A button that opens a short menu. Arrow keys move the focus; Escape and a click outside close the menu.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  readonly label: string;
  readonly hint?: string;
  readonly tone?: 'bad';
  readonly run: () => void;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly isDisabled?: boolean;
}

export function Menu({ label, items, isDisabled = false }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  // A layout effect, so that no key press is lost between the click and the focus.
  useLayoutEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    return () => document.removeEventListener('pointerdown', closeOutside);
  }, [isOpen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      setOpen(false);
      button.current?.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    const all = [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[(at + (event.key === 'ArrowDown' ? 1 : -1) + all.length) % all.length]?.focus();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the button and of the list below it
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class="primary"
        ref={button}
        aria-label={label}
        disabled={isDisabled}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <svg width="10" height="6" viewBox="0 0 10 6" aria-hidden="true">
          <path d="m1 1 4 4 4-4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
        </svg>
      </button>
      {isOpen && (
        <div class="menu-list" role="menu">
          {items.map(({ label: name, hint, tone, run }) => (
            <button
              type="button"
              role="menuitem"
              key={name}
              class={tone ?? ''}
              onClick={() => {
                setOpen(false);
                run();
              }}
            >
              <b>{name}</b>
              {hint !== undefined && <span>{hint}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
