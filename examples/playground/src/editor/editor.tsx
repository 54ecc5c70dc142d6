/**
 * The editor: text, completion, diagnostics and actions. The session holds the text, so that scenarios and links can
 * replace it.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { Annotation, EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Session, useSession } from '../session/session.js';
import { type CheckResult, checkText } from './check.js';
import { CheckSummary } from './check-summary.js';
import { completions } from './complete.js';
import { ConflictCard } from './conflict-card.js';
import { documentsOf, treeOf } from './documents.js';
import { EditorBar } from './editor-bar.js';
import type { OutlinedDocument } from './outline.js';
import { Schemas } from './schemas.js';
import { editorTheme } from './theme.js';
import { type Action, runAction } from './write.js';

const NO_RESULT: CheckResult = { diagnostics: [], dryRuns: [] };

export function Editor({ session }: { readonly session: Session }) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const [findings, setFindings] = useState(NO_RESULT);
  const text = useSession(session, (state) => state.text);
  const conflict = useSession(session, (state) => state.conflict);
  const user = useSession(session, (state) => state.user);
  const manager = useSession(session, (state) => state.manager);
  const force = useSession(session, (state) => state.force);
  const namespace = useSession(session, (state) => state.namespace);
  const objects = useSession(session, (state) => state.objects);
  const cluster = useSession(session, (state) => state.cluster);
  const past = useSession(session, (state) => state.past);

  const documents = (): readonly OutlinedDocument[] => {
    const editor = view.current;
    return editor === undefined ? [] : documentsOf(editor.state);
  };
  const run = (action: Action, options?: { readonly force?: boolean }): void => {
    void runAction(session, action, documents(), options).then(() => recheck(view.current));
  };

  const applyNow = (): boolean => {
    run('apply');
    return true;
  };

  useEffect(() => {
    if (place.current === null) return;
    const schemas = new Schemas(session);
    const check = async (editor: EditorView): Promise<readonly Diagnostic[]> => {
      // Diagnostics are about the present, but the page shows the past.
      if (session.state.past !== undefined) return [];
      const { state } = editor;
      const source = state.doc.toString();
      const found = await checkText(session, schemas, treeOf(state), source);
      // The text has changed since; another check is scheduled.
      if (editor.state.doc.toString() !== source) return [];
      setFindings(found);
      return found.diagnostics.map((finding) => ({ ...finding, to: Math.min(finding.to, source.length) }));
    };
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: session.state.text,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          indentUnit.of('  '),
          yaml(),
          placeholder('A manifest. Start with apiVersion, or pick a scenario below.'),
          autocompletion({
            override: [completions(session, schemas)],
            icons: false,
            activateOnCompletion: ({ type }) => type === 'property',
          }),
          linter(check, {
            delay: 250,
            needsRefresh: ({ transactions }) => transactions.some((each) => each.annotation(RECHECK) === true),
          }),
          keymap.of([
            { key: 'Mod-Enter', run: applyNow },
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...lintKeymap,
            ...historyKeymap,
            ...defaultKeymap,
            indentWithTab,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': 'Manifest', tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) session.setText(update.state.doc.toString());
          }),
          editorTheme,
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [session]);

  // Take over a text that was set elsewhere. Read the session, because it may be ahead of the rendered state.
  useEffect(() => {
    const editor = view.current;
    const wanted = session.state.text;
    if (editor === undefined || editor.state.doc.toString() === wanted) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: wanted } });
  }, [session, text]);

  // The dry run depends on the user, the objects and the time.
  useEffect(() => recheck(view.current), [user, manager, force, namespace, objects, cluster, past]);

  return (
    <section class="pane editor" aria-label="Editor">
      <EditorBar session={session} run={run} />
      <div class="editor-text" ref={place} />
      {conflict !== undefined && <ConflictCard session={session} conflict={conflict} view={view.current} run={run} />}
      <CheckSummary session={session} findings={findings} text={text} goTo={(at) => goTo(view.current, at)} />
    </section>
  );
}

/** Marks a transaction that checks the same text again. */
const RECHECK = Annotation.define<boolean>();

function recheck(editor: EditorView | undefined): void {
  editor?.dispatch({ annotations: RECHECK.of(true) });
}

function goTo(editor: EditorView | undefined, at: number): void {
  if (editor === undefined) return;
  editor.dispatch({ selection: { anchor: Math.min(at, editor.state.doc.length) }, scrollIntoView: true });
  editor.focus();
}
