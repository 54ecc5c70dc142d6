/**
 * The panels as tabs. A click on the open tab closes the drawer.
 */
import { panels } from '../panels/index.js';
import { type Session, useSession } from '../session/session.js';

export function Drawer({ session }: { readonly session: Session }) {
  const open = useSession(session, (state) => state.panel);
  const shown = panels.find(({ id }) => id === open);

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = panels.findIndex(({ id }) => id === open);
    const next = panels[(at + step + panels.length) % panels.length];
    if (next === undefined) return;
    session.openPanel(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };

  return (
    <section class="pane drawer" aria-label="Panels">
      <div class="tabs">
        <div role="tablist" onKeyDown={onKeyDown}>
          {panels.map(({ id, title, icon }, index) => (
            <button
              type="button"
              role="tab"
              key={id}
              id={`tab-${id}`}
              aria-selected={open === id}
              aria-controls={`panel-${id}`}
              tabIndex={open === id || (shown === undefined && index === 0) ? 0 : -1}
              onClick={() => session.openPanel(open === id ? undefined : id)}
            >
              {icon}
              {title}
            </button>
          ))}
        </div>
        <span class="spacer" />
        <button
          type="button"
          class="icon"
          aria-label={open === undefined ? 'Open the drawer' : 'Close the drawer'}
          aria-expanded={open !== undefined}
          onClick={() => session.openPanel(open === undefined ? panels[0]?.id : undefined)}
        >
          <svg width="12" height="8" viewBox="0 0 10 6" aria-hidden="true" class={open === undefined ? 'turned' : ''}>
            <path d="m1 1 4 4 4-4" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" />
          </svg>
        </button>
      </div>
      {shown !== undefined && (
        <div class="panel" role="tabpanel" id={`panel-${shown.id}`} aria-labelledby={`tab-${shown.id}`}>
          <shown.Panel session={session} />
        </div>
      )}
    </section>
  );
}
