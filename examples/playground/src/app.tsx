/**
 * The layout. Wide pages show the editor, the tree, the object and a drawer of panels at the same time. Narrow pages
 * show one of them at a time, with tabs.
 */
import { useEffect, useState } from 'preact/hooks';
import { Editor } from './editor/editor.js';
import { ObjectView } from './objects/object-view.js';
import { Tree } from './objects/tree.js';
import { panels } from './panels/index.js';
import { type Session, useSession } from './session/session.js';
import { Drawer } from './ui/drawer.js';
import { Header } from './ui/header.js';
import { Notices } from './ui/notices.js';

interface AppProps {
  readonly session: Session;
}

export function App({ session }: AppProps) {
  const panel = useSession(session, (state) => state.panel);
  const selected = useSession(session, (state) => state.selected);
  /** Which part a narrow page shows: one of the three, or `panel`. */
  const [part, setPart] = useState<'editor' | 'tree' | 'object' | 'panel'>('editor');

  // Show the object when it is selected. On wide pages it is always visible.
  useEffect(() => {
    if (selected !== undefined) setPart((now) => (now === 'tree' ? 'object' : now));
  }, [selected]);

  // A narrow page has more tabs than space for them.
  useEffect(() => {
    document.querySelector('.parts [aria-current=true]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [part, panel]);

  const openPanel = (id: string): void => {
    session.openPanel(id);
    setPart('panel');
  };

  return (
    <div class="app" data-part={part} data-drawer={panel === undefined ? 'closed' : 'open'}>
      <a class="skip" href="#main">
        To the editor
      </a>
      <Header session={session} />
      <main id="main">
        <Editor session={session} />
        <Tree session={session} />
        <ObjectView session={session} openPanel={openPanel} />
        <Drawer session={session} />
        <Notices session={session} />
      </main>
      <nav class="parts" aria-label="Parts of the page">
        {(['editor', 'tree', 'object'] as const).map((each) => (
          <button type="button" key={each} aria-current={part === each} onClick={() => setPart(each)}>
            {PARTS[each]}
          </button>
        ))}
        {panels.map(({ id, title }) => (
          <button type="button" key={id} aria-current={part === 'panel' && panel === id} onClick={() => openPanel(id)}>
            {title}
          </button>
        ))}
      </nav>
    </div>
  );
}

const PARTS = { editor: 'Editor', tree: 'Objects', object: 'Object' } as const;
