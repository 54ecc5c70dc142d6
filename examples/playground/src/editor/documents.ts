/** The documents of what stands in the editor. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { Tree } from '@lezer/common';
import { type OutlinedDocument, outlineOf } from './outline.js';

/** Long texts are read bit by bit; a manifest is not long. */
export function treeOf(state: EditorState): Tree {
  return ensureSyntaxTree(state, state.doc.length, 1_000) ?? syntaxTree(state);
}

export function documentsOf(state: EditorState): readonly OutlinedDocument[] {
  return outlineOf(treeOf(state), state.doc.toString());
}
