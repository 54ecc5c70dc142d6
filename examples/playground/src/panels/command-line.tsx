/**
 * The command-line panel: the most used commands of kubectl for the page's cluster.
 */
import { terminalOf } from '../command-line/terminal.js';
import { useSession } from '../session/session.js';
import { TerminalView } from '../ui/terminal-view.js';
import type { Panel, PanelProps } from './panel.js';

const SUGGESTED = ['get all', 'top nodes', 'explain deployment.spec', 'auth can-i --list --as=alice', 'help'];

function CommandLinePanel({ session }: PanelProps) {
  const terminal = terminalOf(session);
  const user = useSession(session, (state) => state.user.user);
  const namespace = useSession(session, (state) => state.namespace);
  return (
    <TerminalView
      terminal={terminal}
      id="command"
      label="Command"
      placeholder="get pods"
      prompt={
        <>
          <span title="User and namespace">{`${user}@${namespace}`}</span> $
        </>
      }
      hint={
        <p class="terminal-hint">
          The most used commands of kubectl, for the cluster in this page. Tab completes. Try{' '}
          {SUGGESTED.map((each) => (
            <button type="button" class="small" key={each} onClick={() => void terminal.enter(each)}>
              {each}
            </button>
          ))}
        </p>
      }
    />
  );
}

export const commandLinePanel: Panel = {
  id: 'command-line',
  title: 'Command line',
  Panel: CommandLinePanel,
};
