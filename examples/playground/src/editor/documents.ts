/** The YAML documents of the editor's text. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Tree } from '@lezer/common';
import { type OutlinedDocument, outlineOf } from './outline.js';

/**
 * The syntax tree of the whole text. CodeMirror parses long texts incrementally; a manifest is short enough to wait
 * for.
 */
export function treeOf(state: EditorState): Tree {
  return ensureSyntaxTree(state, state.doc.length, 1_000) ?? syntaxTree(state);
}

export function documentsOf(state: EditorState): readonly OutlinedDocument[] {
  return outlineOf(treeOf(state), state.doc.toString());
}
