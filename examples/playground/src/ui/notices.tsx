/** Short-lived messages about what has just happened. */
import { type Session, useSession } from '../session/session.js';

export function Notices({ session }: { readonly session: Session }) {
  const notices = useSession(session, (state) => state.notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ id, tone, text }) => (
        <div key={id} class={`notice ${tone}`}>
          <span class={`dot ${tone}`} />
          <p>{text}</p>
          <button type="button" class="icon" aria-label="Dismiss" onClick={() => session.dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
