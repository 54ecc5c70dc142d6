/**
 * The page's header: the clock, the selected user and the selected field manager.
 */
import { useState } from 'preact/hooks';
import { headerItems } from '../panels/index.js';
import { type Session, useSession } from '../session/session.js';
import { ClockControl } from './clock-control.js';
import { managerColour } from './manager-chip.js';
import { TemporaryClusterMark } from './temporary-cluster-mark.js';
import { ThemeSwitch } from './theme-switch.js';

export function Header({ session }: { readonly session: Session }) {
  return (
    <header class="header">
      <div class="brand">
        <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="var(--brand)" />
          <g fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round">
            <path d="M16 6.5 25 11.5 16 16.5 7 11.5Z" />
            <path d="m7 16.2 9 5 9-5" opacity=".75" />
            <path d="m7 20.8 9 5 9-5" opacity=".45" />
          </g>
        </svg>
        <h1>
          orchplane <span>playground</span>
        </h1>
      </div>
      <ClockControl session={session} />
      <TemporaryClusterMark session={session} />
      <span class="spacer" />
      <UserChooser session={session} />
      <ManagerChooser session={session} />
      {headerItems.map((Item, index) => (
        <Item key={String(index)} session={session} />
      ))}
      <ThemeSwitch />
    </header>
  );
}

/** The select value that opens an input for another name. */
const OTHER = '\u0000other';

function UserChooser({ session }: { readonly session: Session }) {
  const user = useSession(session, (state) => state.user);
  const users = useSession(session, (state) => state.users);
  return (
    <Chooser
      label="User"
      hint={`${user.user}, in ${(user.groups ?? []).join(', ')}. Your requests are sent as this user; the page itself reads as admin.`}
      value={user.user}
      names={users.map((each) => each.user)}
      choose={(name) => {
        const known = users.find((each) => each.user === name);
        session.setUser(known ?? { user: name, groups: ['system:authenticated'] });
      }}
    />
  );
}

function ManagerChooser({ session }: { readonly session: Session }) {
  const manager = useSession(session, (state) => state.manager);
  const managers = useSession(session, (state) => state.managers);
  return (
    <Chooser
      label="Manager"
      hint="The field manager of your writes"
      value={manager}
      names={managers}
      colour={`var(--m${managerColour(manager)})`}
      choose={(name) => session.setManager(name)}
    />
  );
}

interface ChooserProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly colour?: string;
  readonly choose: (name: string) => void;
}

function Chooser({ label, hint, value, names, colour, choose }: ChooserProps) {
  const [isWriting, setWriting] = useState(false);
  if (isWriting) {
    return (
      <form
        class="field chooser"
        onSubmit={(event) => {
          event.preventDefault();
          const name = new FormData(event.currentTarget).get('name');
          if (typeof name === 'string' && name.trim() !== '') choose(name.trim());
          setWriting(false);
        }}
      >
        <span>{label}</span>
        <input
          name="name"
          ref={(input) => input?.focus()} // it replaces the focused select
          aria-label={`Name of the ${label.toLowerCase()}`}
          onBlur={() => setWriting(false)}
        />
      </form>
    );
  }
  return (
    <label class="field chooser" title={hint}>
      {colour !== undefined && <i class="dot" style={{ background: colour }} />}
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const name = event.currentTarget.value;
          if (name === OTHER) setWriting(true);
          else choose(name);
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        <option value={OTHER}>Another …</option>
      </select>
    </label>
  );
}
