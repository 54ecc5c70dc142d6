/** The limits of the reference environment. */

/** How deep the rules of the grammar, and the nodes that are made of them, may be nested. */
export const MOST_DEPTH = 250;

/** Characters of a text. */
export const MOST_CHARACTERS = 100_000;

/** Mistakes of syntax after which reading stops. */
export const MOST_SYNTAX_ERRORS = 100;

/** How often reading goes on after a mistake. */
export const MOST_RECOVERIES = 30;

/** How many tokens one such attempt may skip. */
export const MOST_SKIPPED_TOKENS = 256;
