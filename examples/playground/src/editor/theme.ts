/**
 * The editor's theme. All colours are variables of `ui/tokens.css`, so they change with the page's theme.
 */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const editorTheme = [
  EditorView.theme({
    '&': { height: '100%', fontSize: 'var(--code-size)', backgroundColor: 'transparent', color: 'var(--text)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.65' },
    '.cm-content': { padding: '12px 0', caretColor: 'var(--accent)' },
    '.cm-line': { padding: '0 16px 0 6px' },
    '.cm-gutters': { backgroundColor: 'transparent', border: 'none', color: 'var(--faint)', paddingLeft: '6px' },
    '.cm-activeLine': { backgroundColor: 'var(--line-hover)' },
    '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
    '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection) !important' },
    '.cm-matchingBracket': { backgroundColor: 'var(--selection)' },
    '.cm-tooltip': {
      backgroundColor: 'var(--raised)',
      border: '1px solid var(--border-strong)',
      borderRadius: '8px',
      boxShadow: 'var(--shadow)',
      color: 'var(--text)',
    },
    '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16em', padding: '4px' },
    '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
      padding: '3px 8px',
      borderRadius: '5px',
      display: 'flex',
      gap: '8px',
      alignItems: 'baseline',
    },
    '.cm-tooltip-autocomplete ul li[aria-selected]': {
      background: 'var(--accent) !important',
      color: 'var(--on-accent) !important',
    },
    '.cm-completionDetail': {
      marginLeft: 'auto !important',
      fontStyle: 'normal !important',
      opacity: '.7',
      fontSize: '11px',
    },
    '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
    '.cm-completionIcon': { display: 'none' },
    '.cm-tooltip.cm-completionInfo': {
      padding: '10px 12px',
      maxWidth: '300px',
      fontFamily: 'var(--sans)',
      fontSize: '12.5px',
      lineHeight: '1.5',
    },
    '.cm-diagnostic': {
      borderLeftWidth: '3px',
      padding: '6px 10px',
      fontFamily: 'var(--sans)',
      fontSize: '12.5px',
      maxWidth: '420px',
    },
    '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
    '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
    '.cm-lintRange-error': { backgroundImage: 'none', borderBottom: '2px dotted var(--bad)' },
    '.cm-lintRange-warning': { backgroundImage: 'none', borderBottom: '2px dotted var(--warn)' },
    '.cm-lint-marker': {
      width: '.7em',
      height: '.7em',
      content: 'none !important',
      borderRadius: '50%',
      marginTop: '.5em',
    },
    '.cm-lint-marker-error': { background: 'var(--bad)' },
    '.cm-lint-marker-warning': { background: 'var(--warn)' },
    '.cm-gutter-lint': { width: '14px' },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
      { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
      { tag: [tags.content], color: 'var(--code-text)' },
      { tag: [tags.comment, tags.lineComment], color: 'var(--faint)', fontStyle: 'italic' },
      { tag: [tags.separator, tags.punctuation, tags.meta, tags.squareBracket, tags.brace], color: 'var(--muted)' },
    ]),
  ),
];
